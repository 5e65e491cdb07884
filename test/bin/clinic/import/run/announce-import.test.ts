import { expect, it } from 'vitest'
import { announceImport } from '../../../../../bin/clinic/import/run/import-with-progress.ts'
import { announcedPartition, announcedRange } from '../../../../../shared/store/keys/events.ts'
import { UnavailableError } from '../../../../../shared/store/table/errors.ts'
import { interceptedTable } from '../../../../support/intercepted-table.ts'
import { newClinic, tableOfFile } from '../../../../support/table.ts'

const db = tableOfFile()

it('announces an import once if the response was lost', async () => {
  const clinic = await newClinic(db.table)
  const range = { pk: announcedPartition(clinic.id), ...announcedRange(clinic.id), limit: 9 }
  let attempts = 0
  const lossy = interceptedTable(db.table, async (write, number) => {
    attempts = number
    await write()
    if (number > 1) return
    // The event is read, and forwarded, before the next attempt.
    await db.table.deleteMany(await db.table.query(range))
    throw new UnavailableError(new Error('lost'))
  })
  const counts = { imported: 1, updated: 0, unchanged: 0 }
  await announceImport(lossy, clinic.id, 'departments', counts)
  expect([attempts, await db.table.query(range)]).toEqual([1, []])
})
