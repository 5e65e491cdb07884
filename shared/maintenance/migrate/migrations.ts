import { FORMAT, type Key } from '../../store/keys/key.ts'
import { tableFormatKey } from '../../store/keys/operator.ts'
import type { Table } from '../../store/table/table.ts'
import type { Item } from '../../store/table/write-requests.ts'

/** Moves items to a format. CONTRIBUTING.md says which release may read and write which format. */
export type Migration = {
  /** The number of the format, one more than the number of the migration before it. */
  readonly format: number
  /** The description of the change, for the operator. */
  readonly summary: string
  /** Whether items with this key have another format since. */
  readonly concerns: (key: Key) => boolean
  /** The item in this format, from one in the format before it. Its key may differ: then the item is moved. */
  readonly migrate: (item: Item) => Item
}

/** Every migration, in order. Released ones never change. */
export const MIGRATIONS: readonly Migration[] = []

/** The format without which this version cannot read the table. It is raised a release after a migration was run. */
export const REQUIRED_FORMAT = 0

export const formatOf = (item: Item): number => (item[FORMAT] as number | undefined) ?? 0

/** The format that every item of the table has reached. */
export const readTableFormat = async (table: Table): Promise<number> =>
  ((await table.get(tableFormatKey))?.format as number | undefined) ?? 0

/** Records that every item has reached a format. @throws ConditionFailed if they have reached a later one */
export async function recordTableFormat(table: Table, format: number): Promise<void> {
  await table.update(tableFormatKey, {
    UpdateExpression: 'SET #format = :format',
    ConditionExpression: 'attribute_not_exists(#format) OR #format <= :format',
    ExpressionAttributeNames: { '#format': 'format' },
    ExpressionAttributeValues: { ':format': format },
  })
}
