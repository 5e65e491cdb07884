import type { ClinicId } from '../../domain/clinic.ts'
import { eventHeadKey } from '../keys/events.ts'
import { ConditionFailed } from '../table/errors.ts'
import type { Table } from '../table/table.ts'

/** More than a clinic has in the 35 days that a table can be restored to. */
const SKIPPED = 10_000_000

/**
 * Leaves positions free that events had which are lost, so that a cursor after one of them does not skip new events. Repeating
 * it for the same restore changes nothing.
 * @param restore identifies the restore
 */
export async function skipEventPositions(table: Table, clinic: ClinicId, restore: string): Promise<void> {
  try {
    await table.update(eventHeadKey(clinic), {
      UpdateExpression: 'SET skippedBy = :restore ADD n :skipped, v :one',
      ConditionExpression: 'attribute_not_exists(skippedBy) OR skippedBy <> :restore',
      ExpressionAttributeValues: { ':restore': restore, ':one': 1, ':skipped': SKIPPED },
    })
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
  }
}
