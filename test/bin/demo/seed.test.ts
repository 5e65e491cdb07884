import { cpSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { openSeed } from '../../../bin/demo/seed.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import { freshTable } from '../../support/table.ts'

/** The example of the guide, with other content of some files. */
function seedFolder(changes: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(inject('runFolder'), 'seed-'))
  cpSync('docs/examples/clinic', folder, { recursive: true })
  for (const [name, text] of Object.entries(changes)) writeFileSync(join(folder, name), text)
  return folder
}

it('loads the clinic of the guide, with the same ids and credentials every time', async () => {
  const load = async () => {
    const { table } = await freshTable()
    const { timezone, load } = openSeed(seedFolder())
    const clinics = await load(table)
    const { items } = await patientStore({ table }).page(clinics[0]?.id as never, { page: 1, limit: 10 })
    return { timezone, clinics, patients: items.map(({ id, firstName }) => [id, firstName]) }
  }
  const first = await load()
  expect(first).toMatchObject({
    timezone: 'Europe/Berlin',
    clinics: [{ name: 'Praxis Nord', timezone: 'Europe/Berlin', credentials: { full: expect.any(String) } }],
    patients: [
      [expect.any(String), 'Jonas'],
      [expect.any(String), 'Ada'],
    ],
  })
  expect(await load()).toEqual(first)
})

it('has the time zone in its own spelling', () => {
  const settings = '{"name": "A", "timezone": "europe/berlin", "currency": "EUR"}'
  expect(openSeed(seedFolder({ 'clinic.json': settings })).timezone).toBe('Europe/Berlin')
})

it.each([
  ['{', /clinic\.json: .*JSON/],
  ['{"name": "A", "timezone": "Berlin", "currency": "EUR"}', /clinic\.json: .*IANA[\s\S]*timezone/],
  ['{"name": "A", "timezone": "UTC", "currency": "euro"}', /clinic\.json: .*ISO 4217[\s\S]*currency/],
])('rejects the settings %s', (settings, message) => {
  expect(() => openSeed(seedFolder({ 'clinic.json': settings }))).toThrow(message)
})

it.each([
  ['patients.tsv', 'external_id\tfirst_name\tlast_name\np9\tEva\tNeu\n'],
  ['patients.txt', 'external_id;first_name;last_name\np9;Eva;Neu\n'],
  ['patients.2026.csv', 'external_id,first_name,last_name\np9,Eva,Neu\n'],
])('imports %s', async (name, text) => {
  const { table } = await freshTable()
  const [clinic] = await openSeed(seedFolder({ [name]: text })).load(table)
  const { items } = await patientStore({ table }).page(clinic?.id as never, { page: 1, limit: 10 })
  expect(items.map(({ firstName }) => firstName)).toContain('Eva')
})

it('rejects a file that cannot be imported by its name', () => {
  expect(() => openSeed(seedFolder({ 'patients.xlsx': '' }))).toThrow(/patients\.xlsx: the name must end in/)
  expect(() => openSeed(seedFolder({ '.DS_Store': '' }))).not.toThrow()
})

it('rejects a file of no entity, and a row that cannot be imported, by its file and line', async () => {
  expect(() => openSeed(seedFolder({ 'people.csv': '' }))).toThrow(/people\.csv: cannot tell the entity/)
  const { table } = await freshTable()
  const { load } = openSeed(seedFolder({ 'patients.csv': 'external_id,first_name,last_name\np1,,\n' }))
  await expect(load(table)).rejects.toThrow(/patients\.csv, line 2: .*first_name/)
})
