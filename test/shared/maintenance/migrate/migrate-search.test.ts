import { beforeEach, expect, it } from 'vitest'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { SearchSegment } from '../../../../shared/domain/patients/search-index.ts'
import { migrateSearch } from '../../../../shared/maintenance/migrate/migrate-search.ts'
import { patientChangesPartition, patientHeadKey } from '../../../../shared/store/keys/patients.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { patientSearch } from '../../../../shared/store/patients/search.ts'
import { readSegment, segmentWrites } from '../../../../shared/store/patients/segments.ts'
import { allItems } from '../../../support/all-items.ts'
import { crashableTable } from '../../../support/crashable-table.ts'
import { aPatient, freshTable, newClinic, type TestTable } from '../../../support/table.ts'

/** Names, what people search for, and the names as version 1.0.0 has folded them, with Hangul in its parts. */
const PEOPLE = [
  ['Seán', "O'Brien", "o'brien", "sean o'brien"],
  ['आशा', 'शर्मा', 'शर्मा', 'आश शरम'],
  ['민수', '김', '민수', '민수 김'.normalize('NFKD')],
  ['Ada', 'Kaya', 'kaya', 'ada kaya'],
] as const

let db: TestTable
let clinic: ClinicId
beforeEach(async () => {
  db = await freshTable()
  clinic = (await newClinic(db.table)).id
  const patients = PEOPLE.map(([firstName, lastName]) =>
    aPatient({ firstName, lastName, phoneNumber: null, emailAddress: null }),
  )
  const writer = patientWriter(db)
  await writer.createMany(clinic, patients)
  await writer.snapshot(clinic)
  const stored = await readSegment(db.table, clinic, 0, 1)
  const earlier = new SearchSegment(PEOPLE.map(([, , , folded]) => `${folded}\t\t`))
  await db.table.transact(segmentWrites(db.table, clinic, 0, earlier, 4, stored))
  // An update that is not in the segment yet.
  const before = await patientStore(db).find(clinic, patients[0]?.id ?? '')
  if (before) await writer.update(clinic, [{ before, after: { ...before, phoneNumber: '+905321234567' } }])
  const [entry] = await db.table.query({ pk: patientChangesPartition(clinic), limit: 1 })
  if (entry) await db.table.putMany([{ ...entry, line: "sean o'brien\t905321234567\t" }])
})

/** The names that a search finds that has nothing in memory. */
const found = async (query: string): Promise<string[]> =>
  (await patientSearch(db).search(clinic, query, { page: 1, limit: 10 })).items.map(
    ({ lastName }) => lastName,
  )
const foundAll = () => Promise.all([...PEOPLE.map(([, , query]) => query), 'obrien', '1234567'].map(found))
const EACH = PEOPLE.map(([, lastName]) => [lastName])

it('finds lines of an earlier folding before they are migrated, and after', async () => {
  expect(await foundAll()).toEqual([...EACH, [], ["O'Brien"]])
  expect(await migrateSearch(db.table)).toEqual({ rewritten: 1, failed: 0 })
  expect(await foundAll()).toEqual([...EACH, ["O'Brien"], ["O'Brien"]])
  const migrated = await allItems(db)
  expect(await migrateSearch(db.table)).toEqual({ rewritten: 0, failed: 0 })
  expect(await allItems(db)).toEqual(migrated)
})

it('finds them when an index in memory has lines of both foldings', async () => {
  const search = patientSearch(db)
  const inMemory = async (query: string) =>
    (await search.search(clinic, query, { page: 1, limit: 10 })).items.map(({ lastName }) => lastName)
  expect(await inMemory("o'brien")).toEqual(["O'Brien"])
  await patientWriter(db).createMany(clinic, [aPatient({ lastName: "O'Brien-Demir" })])
  expect(await inMemory("o'brien")).toEqual(["O'Brien-Demir", "O'Brien"])
  expect(await inMemory('obrien')).toEqual(["O'Brien-Demir"])
})

it('continues a migration that was killed at any call', async () => {
  for (let calls = 0, isDone = false; !isDone; calls++) {
    let left = calls
    // Later than the lease of the one that was killed.
    const now = () => Date.now() + calls * 60_000
    const killed = { ...crashableTable(db.table, () => left-- <= 0), now }
    isDone = await migrateSearch(killed).then(
      () => true,
      () => false,
    )
    expect(await foundAll()).toEqual([...EACH, expect.anything(), ["O'Brien"]])
  }
  expect(await foundAll()).toEqual([...EACH, ["O'Brien"], ["O'Brien"]])
})

it('leaves a clinic whose items cannot be read to its verification, and migrates the others', async () => {
  const damaged = (await newClinic(db.table)).id
  await db.table.putMany([patientHeadKey(damaged)])
  expect(await migrateSearch(db.table)).toEqual({ rewritten: 1, failed: 1 })
})
