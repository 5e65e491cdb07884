import { tableFormatKey } from '../../../shared/store/keys/operator.ts'
import type { Table } from '../../../shared/store/table/table.ts'

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
