import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, expect, inject, it } from 'vitest'

/** Packages that a test changes. */
const COPIED = ['libphonenumber-js']

let project: string

beforeAll(() => {
  project = join(mkdtempSync(join(inject('runFolder'), 'kept-bundles-')), 'project')
  for (const path of ['bin', 'docs', 'functions', 'infra', 'shared', 'package-lock.json', 'tsconfig.json'])
    cpSync(path, join(project, path), { recursive: true, filter: (file) => !file.includes('node_modules') })
  mkdirSync(join(project, 'node_modules'))
  for (const name of readdirSync('node_modules').filter((one) => !one.startsWith('.'))) {
    const [from, to] = [resolve('node_modules', name), join(project, 'node_modules', name)]
    if (COPIED.includes(name)) cpSync(from, to, { recursive: true })
    else symlinkSync(from, to)
  }
})

/** Runs a script in the copy of the project, and returns its output. */
const run = (script: string) =>
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: project }).toString().trim()

function replace(path: string, from: string, to: string): void {
  const content = readFileSync(join(project, path), 'utf8')
  expect(content).toContain(from)
  writeFileSync(join(project, path), content.replace(from, to))
}

it('makes the bundles of which an input has changed, and no others', () => {
  // Files that have just been written would count as changed since the code was loaded.
  const script = `
    const { functionCode } = await import('./infra/functions/bundles.ts')
    const { KeptFiles } = await import('./infra/kept/kept-files.ts')
    const kept = new KeptFiles('kept', Number.MAX_SAFE_INTEGER)
    await functionCode(['get-patient', 'list-doctors', 'create-patient', 'reference'], 'out', {
      find: (...of) => kept.find(...of),
      keep: (made) => {
        for (const { name } of made) process.stdout.write(name + ' ')
        kept.keep(made)
      },
    })`
  const made = () => run(script)
  const output = (path: string) => readFileSync(join(project, 'out', path), 'utf8')

  expect(made()).toBe('get-patient list-doctors create-patient reference reference-files')
  const first = ['get-patient', 'list-doctors'].map((id) => output(`${id}/bundle.js`))
  expect(made()).toBe('')
  expect(['get-patient', 'list-doctors'].map((id) => output(`${id}/bundle.js`))).toEqual(first)
  replace('functions/get-patient.ts', "'patient_not_found'", "'forbidden'")
  replace('docs/guides/booking.md', '# ', '# All about ')
  expect(made()).toBe('get-patient reference-files')
  expect(output('get-patient/bundle.js')).not.toBe(first[0])
  expect(output('reference/files/docs/guides/booking.html')).toContain('All about')
  replace('node_modules/libphonenumber-js/metadata.max.json.js', '"nonGeographic"', '"changedMetadata"')
  expect(made()).toBe('create-patient')
  expect(output('create-patient/bundle.js')).toContain('changedMetadata')
  writeFileSync(join(project, 'shared/domain/package.json'), '{ "sideEffects": false }')
  expect(made()).toBe('get-patient list-doctors create-patient reference')
  replace('infra/functions/bundles.ts', 'minify: true', 'minify: false')
  expect(made()).toBe('get-patient list-doctors create-patient reference')
  expect(output('list-doctors/bundle.js').length).toBeGreaterThan(first[1]?.length ?? 0)
})

it('loads the demo again when its code has changed', () => {
  const script = `
    import { copyFileSync, writeFileSync } from 'node:fs'
    const { loadKeptDemo } = await import('./bin/local/clinics.ts')
    const { KeptFiles } = await import('./infra/kept/kept-files.ts')
    const database = { copyTo: (file) => writeFileSync(file, 'items'), addFrom: () => process.stdout.write('kept: ') }
    const stack = { database, endpoints: {}, outputs: { TableName: 'clinics' } }
    const [{ name }] = await loadKeptDemo(stack, new KeptFiles('kept', Number.MAX_SAFE_INTEGER))
    process.stdout.write(name)`
  // In place of the engine.
  replace(
    'bin/demo/load.ts',
    'Promise.all(demoClinics(today).map((demo) => loadClinic(table, demo, now)))',
    'Promise.resolve(demoClinics(today)) as never',
  )
  const first = run(script)
  expect(run(script)).toBe(`kept: ${first}`)
  replace('bin/demo/clinics.ts', first, 'Another clinic')
  expect(run(script)).toBe('Another clinic')
  expect(run(script)).toBe('kept: Another clinic')
})
