import type { ClinicId } from '../../domain/clinic.ts'
import type { AttemptHealth } from '../../domain/webhook-health.ts'
import { webhookHealthKey } from '../keys/webhooks.ts'
import { ConditionFailed } from '../table/errors.ts'
import type { Table } from '../table/table.ts'
import type { UpdateParts } from '../table/write-requests.ts'

/** How the receivers of webhooks respond. Each webhook has one item, which is created and deleted together with it. */
export function webhookHealthStore({ table }: { table: Table }) {
  /** Takes a slot until `until`. False if it has changed since it was read, or the webhook was deleted. */
  const takeSlot = (
    clinic: ClinicId,
    webhook: string,
    { number, read, until }: { readonly number: number; readonly read: number; readonly until: number },
  ): Promise<boolean> =>
    change(clinic, webhook, {
      UpdateExpression: 'SET #slot = :until',
      // The update may have succeeded earlier with its response lost.
      ConditionExpression:
        read === 0 ? '(attribute_not_exists(#slot) OR #slot IN (:read, :until))' : '#slot IN (:read, :until)',
      ExpressionAttributeNames: { '#slot': `slot${number}` },
      ExpressionAttributeValues: { ':until': until, ':read': read },
    })

  /** Records an attempt, and frees its slot. The time of the first failure stays. */
  async function record(clinic: ClinicId, webhook: string, attempt: AttemptHealth): Promise<void> {
    const { result, at, isSlow, probeAt, slot } = attempt
    const values: Record<string, number> = {}
    const sets: string[] = []
    const set = (expression: string, name: string, value: number) => {
      sets.push(expression)
      values[name] = value
    }
    if (isSlow) set('slow = slow + :one', ':one', 1)
    else if (result === 'success') set('slow = :zero', ':zero', 0)
    if (result === 'success') set('failures = :zero', ':zero', 0)
    if (result === 'failure') {
      set('failures = failures + :one', ':one', 1)
      set('failingSince = if_not_exists(failingSince, :at)', ':at', at)
    }
    if (probeAt !== null) set('probeAt = :probe', ':probe', probeAt)
    if (slot !== null) set(`slot${slot} = :free`, ':free', 0)
    const removed = result === 'success' ? ' REMOVE failingSince, probeAt' : ''
    await change(clinic, webhook, {
      UpdateExpression: `SET ${sets.join(', ')}${removed}`,
      ExpressionAttributeValues: values,
    })
  }

  /** Records that a person has enabled the webhook: what its receiver did before no longer counts. */
  async function reset(clinic: ClinicId, webhook: string): Promise<void> {
    await change(clinic, webhook, {
      UpdateExpression: 'SET failures = :zero, slow = :zero REMOVE failingSince, probeAt',
      ExpressionAttributeValues: { ':zero': 0 },
    })
  }

  /** Records that a delivery waits. */
  async function recordWaiting(clinic: ClinicId, webhook: string, at: number): Promise<void> {
    await change(clinic, webhook, {
      UpdateExpression: 'SET waiting = :at',
      ExpressionAttributeValues: { ':at': at },
    })
  }

  /** Records that no delivery waits, unless another has begun to wait since `read`. */
  async function clearWaiting(clinic: ClinicId, webhook: string, read: number): Promise<void> {
    await change(clinic, webhook, {
      UpdateExpression: 'REMOVE waiting',
      ConditionExpression: 'waiting = :read',
      ExpressionAttributeValues: { ':read': read },
    })
  }

  /** A delivery can end after its webhook was deleted, whose health must not be created again. */
  async function change(clinic: ClinicId, webhook: string, parts: UpdateParts): Promise<boolean> {
    try {
      const exists = 'attribute_exists(pk)'
      const condition = parts.ConditionExpression ? `${exists} AND ${parts.ConditionExpression}` : exists
      await table.update(webhookHealthKey(clinic, webhook), { ...parts, ConditionExpression: condition })
      return true
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      return false
    }
  }

  return { takeSlot, record, reset, recordWaiting, clearWaiting }
}
