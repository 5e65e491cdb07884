import { randomUUID } from 'node:crypto'
import { openTable } from '../../shared/store/table/table.ts'
import { allItems } from './all-items.ts'
import { freshTable, type TestTable } from './table.ts'

/** A table with the items that `source` has now, as a restore makes it. */
export async function restored(source: TestTable): Promise<TestTable> {
  const target = await freshTable(`${source.name}-restored-${randomUUID()}`)
  // The SDK's client writes items with every type of attribute.
  await openTable(target.client, target.name).putMany(await allItems(source))
  return target
}
