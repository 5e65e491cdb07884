import { beforeAll, expect, it } from 'vitest'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { dueSortKey, parseDueKey } from '../../../../shared/store/keys/due.ts'
import { readDue } from '../../../../shared/store/table/read-due.ts'
import { freshSdkTable, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile(freshSdkTable)
beforeAll(async () => {
  const items = ['a', 'b', 'c'].flatMap((pk, partition) =>
    Array.from({ length: [7, 3, 0][partition] ?? 0 }, (_, at) => ({
      pk,
      sk: dueSortKey({ clinic: newUuid() as ClinicId, id: newUuid(), at }),
    })),
  )
  await db.table.transact(items.map((item) => db.table.putWrite(item)))
})

async function batches(until: number, size: number): Promise<string[]> {
  const found: string[] = []
  const parse = (key: { pk: string; sk: string }) => ({ pk: key.pk, at: parseDueKey(key).at })
  for await (const batch of readDue(db.table, ['a', 'b', 'c'], parse, { until, size }))
    found.push(batch.map(({ pk, at }) => `${pk}${at}`).join(' '))
  return found
}

it('reads every item of each partition once, earliest first, as long as a partition has more', async () => {
  expect(await batches(1000, 3)).toEqual(['a0 b0 a1 b1 a2 b2', 'a3 a4 a5', 'a6'])
})

it('reads what is due by a time', async () => {
  expect(await batches(1, 10)).toEqual(['a0 b0 a1 b1'])
})
