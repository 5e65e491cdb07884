import type { ClinicId } from '../../domain/clinic.ts'
import { webhookHealthKey } from '../keys/webhooks.ts'
import type { Table } from '../table/table.ts'

/** How the receivers of webhooks respond. A healthy receiver has no item. */
export function webhookHealthStore({ table }: { table: Table }) {
  /** Records a failed attempt at `failedAt` (milliseconds), or a slow one (null). The time of the first failure stays. */
  async function recordFailure(clinic: ClinicId, webhook: string, failedAt: number | null): Promise<void> {
    await table.update(webhookHealthKey(clinic, webhook), {
      UpdateExpression:
        failedAt === null
          ? 'SET slow = :yes'
          : 'SET slow = :yes, failingSince = if_not_exists(failingSince, :at)',
      ExpressionAttributeValues: { ':yes': true, ...(failedAt !== null && { ':at': failedAt }) },
    })
  }

  /** Records that the receiver is healthy again. */
  const recordRecovery = (clinic: ClinicId, webhook: string): Promise<void> =>
    table.transact([table.deleteWrite(webhookHealthKey(clinic, webhook))])

  return { recordFailure, recordRecovery }
}
