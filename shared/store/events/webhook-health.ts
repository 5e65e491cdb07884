import type { ClinicId } from '../../domain/clinic.ts'
import { webhookHealthKey } from '../keys/webhooks.ts'
import { ConditionFailed } from '../table/errors.ts'
import type { Table } from '../table/table.ts'
import type { UpdateParts } from '../table/write-requests.ts'

/** How the receivers of webhooks respond. Each webhook has one item, which is created and deleted together with it. */
export function webhookHealthStore({ table }: { table: Table }) {
  /** Records a failed attempt at `failedAt` (milliseconds), or a slow one (null). The time of the first failure stays. */
  const recordFailure = (clinic: ClinicId, webhook: string, failedAt: number | null): Promise<void> =>
    change(clinic, webhook, {
      UpdateExpression:
        failedAt === null
          ? 'SET slow = :yes'
          : 'SET slow = :yes, failingSince = if_not_exists(failingSince, :at)',
      ExpressionAttributeValues: { ':yes': true, ...(failedAt !== null && { ':at': failedAt }) },
    })

  /** Records that the receiver does not fail any more. */
  const recordRecovery = (clinic: ClinicId, webhook: string, isSlow = false): Promise<void> =>
    change(clinic, webhook, {
      UpdateExpression: 'SET slow = :slow REMOVE failingSince',
      ExpressionAttributeValues: { ':slow': isSlow },
    })

  /** A delivery can end after its webhook was deleted, whose health must not be created again. */
  async function change(clinic: ClinicId, webhook: string, parts: UpdateParts): Promise<void> {
    try {
      const ConditionExpression = 'attribute_exists(pk)'
      await table.update(webhookHealthKey(clinic, webhook), { ...parts, ConditionExpression })
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
    }
  }

  return { recordFailure, recordRecovery }
}
