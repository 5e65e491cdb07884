import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { announceImport } from '../../../../../bin/clinic/import/run/import-with-progress.ts'
import type { Clinic } from '../../../../../shared/domain/clinic.ts'
import { announcedPartition, announcedRange } from '../../../../../shared/store/keys/events.ts'
import { UnavailableError } from '../../../../../shared/store/table/errors.ts'
import type { Counts } from '../../../../../shared/sync/outcomes/batch-outcomes.ts'
import { deployedTable } from '../../../../support/deployed-stack.ts'
import { interceptedTable } from '../../../../support/intercepted-table.ts'
import { newClinic } from '../../../../support/table.ts'
import { temporaryFolder } from '../../../../support/temporary-folder.ts'

const { db, run } = deployedTable()
let clinic: Clinic
const folder = temporaryFolder()
const file = join(folder, 'departments.ndjson')

beforeEach(async () => {
  clinic = await newClinic(db.table)
})

const SURGERY = '{"external_id":1,"name":"Surgery"}\n'

async function imported(content: string): Promise<void> {
  writeFileSync(file, content)
  expect((await run('import', '--yes', file, '--clinic', clinic.id)).errors).toBe('')
}
/** The numbers of new and changed records of each event. */
const announced = async () => {
  const range = { pk: announcedPartition(clinic.id), ...announcedRange(clinic.id), limit: 100 }
  const items = (await db.table.query(range)).toSorted((a, b) => Number(a.c) - Number(b.c))
  return items.map(({ d }) => d as Counts).map(({ imported, updated }) => [imported, updated])
}

describe('import.completed', () => {
  it('is announced by each import that ends, also by one that changes nothing', async () => {
    await imported(SURGERY)
    await imported(SURGERY)
    expect(await announced()).toEqual(
      expect.arrayContaining([
        [1, 0],
        [0, 0],
      ]),
    )
    expect(await announced()).toHaveLength(2)
  })

  it('is announced once if the response was lost', async () => {
    let attempts = 0
    const lossy = interceptedTable(db.table, async (write, number) => {
      attempts = number
      await write()
      if (number > 1) return
      // The event is read, and forwarded, before the next attempt.
      const range = { pk: announcedPartition(clinic.id), ...announcedRange(clinic.id), limit: 1 }
      await db.table.deleteMany(await db.table.query(range))
      throw new UnavailableError(new Error('lost'))
    })
    const counts = { imported: 1, updated: 0, unchanged: 0 }
    await announceImport(lossy, clinic.id, 'departments', counts)
    expect([attempts, await announced()]).toEqual([1, []])
  })
})
