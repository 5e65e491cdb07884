/** Patients who may be the same person are imported with a warning. */
import { describe, expect, it } from 'vitest'
import { trialTable } from '../../../../bin/clinic/import/run/trial-table.ts'
import { addDays } from '../../../../shared/domain/clock.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { readImportIds } from '../../../../shared/store/external-ids/derive.ts'
import type { Key } from '../../../../shared/store/keys/key.ts'
import { sortableNumber } from '../../../../shared/store/keys/key.ts'
import { patientListPartition, patientSegmentPartition } from '../../../../shared/store/keys/patients.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { aPatient } from '../../../support/table.ts'
import { importedClinic } from './calendar-fixtures.ts'

const imported = importedClinic()
/** Those of the clinic at the beginning. */
const PATIENTS = 2
const { load } = imported

const ada = { external_id: 'a', first_name: 'Ada', last_name: 'Çelik', date_of_birth: '1980-02-03' }
const again = { ...ada, external_id: 'b', first_name: ' ADA', last_name: 'celik' }
const IN_FILE = 'first_name, last_name and date_of_birth are already used on line 1'

const idOf = async (externalId: string) =>
  (await readImportIds(imported.db.table, imported.clinic.id))('patient', externalId)
const ofClinic = (id: string) => `first_name, last_name and date_of_birth match patient ${id} of the clinic`

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

  it('of whom the clinic has many of one name, each read once', async () => {
    const dates = Array.from({ length: 30 }, (_, n) => `${1950 + n}-01-01`)
    await load(
      'patients',
      dates.map((date_of_birth, n) => ({ ...ada, external_id: `old ${n}`, date_of_birth })),
    )
    const { table, rowsRead } = countingReads()
    const rows = Array.from({ length: 200 }, (_, n) => ({
      ...ada,
      external_id: `new ${n}`,
      date_of_birth: n === 150 ? '1979-01-01' : addDays('2001-01-01', n),
    }))
    expect((await load('patients', rows, table)).warned).toEqual([`151: ${ofClinic(await idOf('old 29'))}`])
    expect(rowsRead()).toBe(30)
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

it('reads no names of the clinic for rows that make no new patient, or have no date of birth', async () => {
  await load('patients', [ada, again])
  const { table, rowsRead, segmentsRead } = countingReads()
  const rows = [ada, again, { external_id: 'x', first_name: 'Ada', last_name: 'Celik' }]
  expect(await load('patients', rows, table, { isTrial: true })).toMatchObject({ imported: 1, unchanged: 2 })
  expect([rowsRead(), segmentsRead()]).toEqual([0, 0])
})

/** The same table, which counts the rows of the first 30 patients and the search segments that are read. */
function countingReads() {
  const { db, clinic } = imported
  const list = patientListPartition(clinic.id)
  const segment = patientSegmentPartition(clinic.id, 0)
  let rowsRead = 0
  let segmentsRead = 0
  const count = (keys: readonly Key[]): void => {
    rowsRead += keys.filter(({ pk, sk }) => pk === list && sk < sortableNumber(PATIENTS + 30)).length
  }
  const table: Table = {
    ...db.table,
    getMany: (keys, options) => {
      count(keys)
      return db.table.getMany(keys, options)
    },
    query: async (range) => {
      if (range.pk === segment) segmentsRead++
      const items = await db.table.query(range)
      count(items)
      return items
    },
  }
  return { table, rowsRead: () => rowsRead, segmentsRead: () => segmentsRead }
}
