import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { bundleFunctions, keptBundles } from '../../../infra/functions/bundles.ts'

const folder = mkdtempSync(join(inject('runFolder'), 'bundles-test-'))

const IDS = ['create-patient', 'deliver-event', 'get-patient', 'list-patients', 'send-email', 'send-message']

/** The packages and modules in each bundle. */
function bundled(): Map<string, string[]> {
  const { metafile } = bundleFunctions(IDS, folder)
  return new Map(
    Object.values(metafile.outputs).map(({ entryPoint = '', inputs }) => [
      basename(entryPoint, '.ts'),
      Object.entries(inputs)
        .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
        .map(([path]) => path),
    ]),
  )
}

it('leaves out what a function does not need', () => {
  const inputs = bundled()
  const idsWith = (part: string) => IDS.filter((id) => inputs.get(id)?.some((path) => path.includes(part)))
  // Lambda passes credentials in the environment.
  expect(idsWith('credential-provider-')).toEqual([])
  expect(idsWith('environment-credentials')).toEqual(IDS)
  expect(idsWith('libphonenumber')).toEqual(['create-patient', 'send-message'])
  expect(idsWith('client-sesv2')).toEqual(['send-email'])
})

it('copies kept bundles, and keeps those that it makes', () => {
  const kept = join(folder, 'kept')
  const codes = ['first', 'second'].map((name) => {
    const outdir = join(folder, name)
    keptBundles(['get-patient'], outdir, kept)
    return readFileSync(join(outdir, 'get-patient', 'index.js'), 'utf8')
  })
  expect(codes[0]).toContain('exports')
  expect(codes[1]).toBe(codes[0])
  writeFileSync(join(kept, 'get-patient', 'index.js'), 'kept')
  keptBundles(['get-patient'], join(folder, 'third'), kept)
  expect(readFileSync(join(folder, 'third', 'get-patient', 'index.js'), 'utf8')).toBe('kept')
})
