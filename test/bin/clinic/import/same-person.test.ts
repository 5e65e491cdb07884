/** Patients who may be the same person are imported with a warning. */
import { describe, expect, it } from 'vitest'
import { trialTable } from '../../../../bin/clinic/import/run/trial-table.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { readImportIds } from '../../../../shared/store/external-ids/derive.ts'
import { patientListPartition } from '../../../../shared/store/keys/patients.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { aPatient } from '../../../support/table.ts'
import { importedClinic } from './calendar-fixtures.ts'

const imported = importedClinic()
const { load } = imported

const ada = { external_id: 'a', first_name: 'Ada', last_name: 'Çelik', date_of_birth: '1980-02-03' }
const again = { ...ada, external_id: 'b', first_name: ' ADA', last_name: 'celik' }
const IN_FILE = 'first_name, last_name and date_of_birth are already used on line 1'

const idOf = async (externalId: string) =>
  (await readImportIds(imported.db.table, imported.clinic.id))('patient', externalId)
const ofClinic = (id: string) =>
  `first_name, last_name and date_of_birth match another patient of the clinic: ${id}`

describe('a new patient with the name and date of birth of another is imported with a warning', () => {
  it('if the other is on an earlier line, in this run and in a later one', async () => {
    const rows = [ada, { ...ada, external_id: 'c', date_of_birth: '1980-02-04' }, again]
    const result = { rejected: 0, warnings: 1, warned: [`3: ${IN_FILE}`] }
    expect(await load('patients', rows)).toMatchObject({ imported: 3, ...result })
    expect(await load('patients', rows)).toMatchObject({ unchanged: 3, ...result })
    // The run was interrupted after the first row.
    const others = [
      { ...ada, external_id: 'd', last_name: 'Kurt' },
      { ...again, external_id: 'e', last_name: 'Kurt' },
    ]
    await load('patients', others.slice(0, 1))
    expect(await load('patients', others)).toMatchObject({ imported: 1, warned: [`2: ${IN_FILE}`] })
  })

  it('if the other is in the clinic, imported or not, with the id', async () => {
    const other = aPatient({ firstName: 'Ada', lastName: 'Celik', dateOfBirth: '1980-02-03' })
    await patientWriter(imported.db).createMany(imported.clinic.id, [other])
    expect(await load('patients', [ada])).toMatchObject({ imported: 1, warned: [`1: ${ofClinic(other.id)}`] })
    // Only new patients are compared with the clinic.
    expect(await load('patients', [ada])).toMatchObject({ unchanged: 1, warned: [] })
    expect(await load('patients', [{ ...ada, notes: 'x' }])).toMatchObject({ updated: 1, warned: [] })
  })

  it('if the other is in an earlier file of the run, and in a trial', async () => {
    using trial = trialTable(imported.db.table)
    for (const [table, isTrial] of [
      [trial, true],
      [imported.db.table, false],
    ] as const) {
      await load('patients', [ada], table, { isTrial })
      const { warned } = await load('patients', [again], table, { isTrial })
      expect(warned).toEqual([`1: ${ofClinic(await idOf('a'))}`])
    }
  })
})

describe('there is no warning', () => {
  it.each([
    ['without a date of birth', { date_of_birth: undefined }],
    ['with another date of birth', { date_of_birth: '1980-02-04' }],
    ['with another name', { last_name: 'Celikk' }],
    ['with another long name', { first_name: 'A'.repeat(90) }],
  ])('%s', async (_, change) => {
    await load('patients', [{ ...ada, first_name: `${'A'.repeat(80)}B` }, ada])
    expect((await load('patients', [{ ...again, ...change }])).warned).toEqual([])
  })

  it('of a patient who was erased', async () => {
    await load('patients', [ada])
    await patientChanges(imported.db.table).erase(imported.clinic.id, await idOf('a'))
    expect((await load('patients', [again])).warned).toEqual([])
  })
})

it('reads the patients of the clinic once, and only for new ones with a date of birth', async () => {
  await load('patients', [ada, again])
  const { db, clinic } = imported
  let reads = 0
  const table: Table = {
    ...db.table,
    query: async (range) => {
      if (range.pk === patientListPartition(clinic.id) && range.from === undefined) reads++
      return db.table.query(range)
    },
  }
  const rows = [ada, again, { external_id: 'x', first_name: 'Ada', last_name: 'Celik' }]
  expect(await load('patients', rows, table, { isTrial: true })).toMatchObject({ imported: 1, unchanged: 2 })
  expect(reads).toBe(0)
  const many = Array.from({ length: 200 }, (_, n) => ({ ...ada, external_id: `new ${n}` }))
  expect(await load('patients', many, table)).toMatchObject({ imported: 200 })
  expect(reads).toBe(1)
})
