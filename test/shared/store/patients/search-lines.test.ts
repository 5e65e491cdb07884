import { beforeEach, expect, it } from 'vitest'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { patientChangesPartition } from '../../../../shared/store/keys/patients.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { searchLineParts } from '../../../../shared/store/patients/search-lines.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { aPatient, newClinic, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()
let clinic: ClinicId

beforeEach(async () => {
  clinic = (await newClinic(db.table)).id
})

const people = ['Ada', 'Bo', 'Eva'].map((firstName) => aPatient({ firstName, lastName: 'Kaya' }))
const [ada, bo] = people.map(({ id }) => id) as [string, string]

async function rename(id: string, firstName: string): Promise<void> {
  const before = (await patientStore(db).findMany(clinic, [id])).get(id)
  if (before) await patientWriter(db).update(clinic, [{ before, after: { ...before, firstName } }])
}

/** The names by ordinal, as they are at the end. */
async function namesIn(table: Table): Promise<string[]> {
  const names: string[] = []
  for await (const lines of searchLineParts(table, clinic))
    for (const [ordinal, line] of lines) names[ordinal] = line.split('\t')[0] ?? ''
  return names
}

it('has the lines of the segments, and what was created and updated since', async () => {
  expect(await namesIn(db.table)).toEqual([])
  const writer = patientWriter(db)
  await writer.createMany(clinic, people.slice(0, 2))
  await writer.snapshotAll(clinic)
  await writer.createMany(clinic, people.slice(2))
  await rename(ada, 'Ayla')
  expect(await namesIn(db.table)).toEqual(['ayla kaya', 'bo kaya', 'eva kaya'])
})

it('is complete when snapshots have deleted the log in between', async () => {
  const writer = patientWriter(db)
  await writer.createMany(clinic, people)
  await rename(ada, 'Ayla')
  let isOvertaken = false
  const table: Table = {
    ...db.table,
    query: async (range) => {
      if (!isOvertaken && range.pk === patientChangesPartition(clinic)) {
        isOvertaken = true
        await writer.snapshotAll(clinic)
        await rename(bo, 'Can')
        await writer.snapshotAll(clinic)
      }
      return db.table.query(range)
    },
  }
  expect(await namesIn(table)).toEqual(['ayla kaya', 'can kaya', 'eva kaya'])
  expect(isOvertaken).toBe(true)
})
