import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openAdvisories } from '../../bin/audit.ts'

const advisory = (name: string, severity: string) => ({
  source: 1,
  name,
  dependency: name,
  title: 'Prototype pollution',
  url: `https://github.com/advisories/GHSA-${name}`,
  severity,
  range: '<2.0.0',
})

/** As npm 11 prints it. */
const REPORT = JSON.stringify({
  auditReportVersion: 2,
  vulnerabilities: {
    knip: { name: 'knip', severity: 'critical', via: ['zod'], effects: [] },
    zod: { name: 'zod', severity: 'critical', via: [advisory('zod', 'critical')], effects: ['knip'] },
    uuid: { name: 'uuid', severity: 'high', via: [advisory('uuid', 'high')], effects: [] },
    ajv: { name: 'ajv', severity: 'moderate', via: [advisory('ajv', 'moderate')], effects: [] },
  },
})

const ZOD = 'critical: zod <2.0.0: Prototype pollution (https://github.com/advisories/GHSA-zod)'
const UUID = 'high: uuid <2.0.0: Prototype pollution (https://github.com/advisories/GHSA-uuid)'

describe('openAdvisories', () => {
  it('returns each advisory of high or critical severity once', () => {
    expect(openAdvisories(REPORT, '2026-11-24', {})).toEqual([ZOD, UUID])
  })

  it('accepts an advisory until its day', () => {
    const accepted = { 'https://github.com/advisories/GHSA-zod': { until: '2026-11-24', reason: 'unused' } }
    expect(openAdvisories(REPORT, '2026-11-24', accepted)).toEqual([UUID])
    expect(openAdvisories(REPORT, '2026-11-25', accepted)).toEqual([ZOD, UUID])
  })

  it.each(['', '{"message":"405 Method Not Allowed","statusCode":405}', '{"auditReportVersion":2}'])(
    'rejects %j, which is no report',
    (text) => {
      expect(() => openAdvisories(text, '2026-11-24')).toThrow()
    },
  )
})

type LockedPackage = {
  readonly resolved?: string
  readonly link?: boolean
  readonly inBundle?: boolean
  readonly integrity?: string
}

describe('dependencies', () => {
  it('are installed from the configured registry only, and have a digest', () => {
    const locks = globSync('{.,shared/**,test/**}/package-lock.json', { exclude: ['**/node_modules/**'] })
    const packages = locks.flatMap((lock) => Object.entries(JSON.parse(readFileSync(lock, 'utf8')).packages))
    // Packages that another one contains have its digest.
    const loose = (packages as [string, LockedPackage][]).filter(
      ([path, { resolved = '', link, inBundle, integrity = '' }]) =>
        path.includes('node_modules/') &&
        (link ? resolved.includes(':') : resolved !== '' || !(inBundle || integrity.startsWith('sha512-'))),
    )
    expect(loose.map(([path]) => path)).toEqual([])
  })

  it('run no install scripts', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
    const { allowScripts } = JSON.parse(readFileSync('package.json', 'utf8'))
    const withScripts = Object.keys(packages).filter((path) => packages[path].hasInstallScript)
    const allowed = withScripts.filter(
      (path) => allowScripts[path.replace(/^.*node_modules\//, '')] !== false,
    )
    expect(allowed).toEqual([])
  })

  it.each([
    ['npm', 'package-lock.json'],
    ['pip', 'requirements.txt'],
  ])('of %s are updated by Dependabot in every folder with a %s', (ecosystem, file) => {
    const config = readFileSync('.github/dependabot.yml', 'utf8')
    const [, rest = ''] = config.split(`- package-ecosystem: ${ecosystem}\n`)
    const [section = ''] = rest.split('- package-ecosystem')
    const patterns = [...section.matchAll(/^ {6}- \/(.*)$/gm)].map(([, folder = '']) => join(folder, file))
    const files = globSync(`{.,shared/**,test/**}/${file}`, { exclude: ['**/node_modules/**'] })
    expect(files.length).toBeGreaterThan(1)
    expect(files.filter((name) => !globSync(patterns).includes(name))).toEqual([])
  })
})
