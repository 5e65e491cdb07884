import { expect, it } from 'vitest'
import { SEGMENT_SIZE } from '../../../../shared/domain/patients/search-index.ts'
import { MAX_CREATED, patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientSearch } from '../../../../shared/store/patients/search.ts'
import { chunked } from '../../../../shared/store/table/chunked.ts'
import { aPatient, newClinic, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()

it('a search finds all of several thousand patients over several segments, also after a snapshot by another process', async () => {
  const { id: clinic } = await newClinic(db.table)
  const patients = Array.from({ length: 9000 }, (_, n) => aPatient({ lastName: n % 3 ? 'Kaya' : 'Demir' }))
  const writer = patientWriter(db)
  const create = async (from: number, to: number) => {
    for (const some of chunked(patients.slice(from, to), MAX_CREATED)) await writer.createMany(clinic, some)
  }
  const inFirstSnapshot = SEGMENT_SIZE + 308
  await create(0, inFirstSnapshot)
  const warm = patientSearch(db)
  await warm.search(clinic, 'demir', { page: 1, limit: 20 })
  await writer.snapshot(clinic)
  await create(inFirstSnapshot, patients.length)
  const oldest = patients.filter(({ lastName }) => lastName === 'Demir').slice(0, 100)
  for (const search of [warm, patientSearch(db)]) {
    const page = await search.search(clinic, 'demir', { page: 30, limit: 100 })
    expect(page.total).toBe(3000)
    expect(page.items.map(({ id }) => id)).toEqual(oldest.map(({ id }) => id).reverse())
  }
})
