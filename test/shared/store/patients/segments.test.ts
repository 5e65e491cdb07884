import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { SEGMENT_SIZE, SearchSegment } from '../../../../shared/domain/patients/search-index.ts'
import { MAX_LINE_BYTES } from '../../../../shared/domain/patients/search-text.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { patientSegmentPartition } from '../../../../shared/store/keys/patients.ts'
import { readSegment, segmentWrites } from '../../../../shared/store/patients/segments.ts'
import { freshSdkTable, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile(freshSdkTable)

/** Random text of the most bytes that a line can have, which compresses as badly as text can. */
const longestLine = (): string => {
  const codePoints = new Uint32Array(randomBytes(MAX_LINE_BYTES).buffer, 0, MAX_LINE_BYTES / 4)
  // Planes 1 to 13, four bytes each.
  return String.fromCodePoint(...[...codePoints].map((random) => 0x1_0000 + (random % 0xd_0000)))
}

it('stores a segment that is full of the longest lines, which hardly compress', async () => {
  const clinic = newUuid() as ClinicId
  const lines = Array.from({ length: SEGMENT_SIZE }, longestLine)
  const writes = segmentWrites(db.table, clinic, 0, new SearchSegment(lines), 1, null)
  expect(writes.length).toBeGreaterThan(6)
  await db.table.transact(writes)
  expect((await readSegment(db.table, clinic, 0, 1))?.segment.lines()).toEqual(lines)
})

it('leaves no text in the other items of a segment that shrank to one', async () => {
  const clinic = newUuid() as ClinicId
  const pk = patientSegmentPartition(clinic, 0)
  const bytesOfItems = async () =>
    (await db.table.query({ pk, limit: 100 })).map(({ data }) => (data as Uint8Array).length)
  const lines = Array.from({ length: 2000 }, longestLine)
  await db.table.transact(segmentWrites(db.table, clinic, 0, new SearchSegment(lines), 1, null))
  expect((await bytesOfItems())[1]).toBeGreaterThan(100_000)

  const short = new SearchSegment(['ada\t\t'])
  for (const version of [1, 2]) {
    const stored = await readSegment(db.table, clinic, 0, version)
    await db.table.transact(segmentWrites(db.table, clinic, 0, short, version + 1, stored))
    expect((await bytesOfItems()).slice(1)).toEqual([0])
  }
  expect((await readSegment(db.table, clinic, 0, 3))?.segment.lines()).toEqual(['ada\t\t'])
})
