import { beforeAll, expect, it } from 'vitest'
import { partitionBatches } from '../../../../shared/store/table/partition-batches.ts'
import { freshSdkTable, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile(freshSdkTable)
beforeAll(async () => {
  const items = ['a', 'b', 'c'].flatMap((pk, at) =>
    Array.from({ length: [7, 3, 0][at] ?? 0 }, (_, n) => ({ pk, sk: `${n}` })),
  )
  await db.table.transact(items.map((item) => db.table.putWrite(item)))
})

async function batches(to: string, size: number): Promise<string[]> {
  const found: string[] = []
  for await (const items of partitionBatches(db.table, ['a', 'b', 'c'], { to, size }))
    found.push(items.map(({ pk, sk }) => `${pk}${sk}`).join(' '))
  return found
}

it('reads every item of each partition once, in order, as long as a partition has more', async () => {
  expect(await batches('~', 3)).toEqual(['a0 a1 a2 b0 b1 b2', 'a3 a4 a5', 'a6'])
})

it('reads to the end of the range', async () => {
  expect(await batches('1~', 10)).toEqual(['a0 a1 b0 b1'])
})
