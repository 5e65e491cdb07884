import type { ClinicId } from '../../domain/clinic.ts'
import { MAX_WEBHOOKS } from '../../domain/webhooks/webhook.ts'
import type { WebhookHealth } from '../../domain/webhooks/webhook-health.ts'
import type { Key } from '../keys/key.ts'
import { parseWebhookHealthKey, webhookHealthKey, webhookHealthPartition } from '../keys/webhooks.ts'
import { ConditionFailed } from '../table/errors.ts'
import type { Table } from '../table/table.ts'
import type { UpdateParts } from '../table/write-requests.ts'
import { decodeHealth } from './items.ts'

/** How webhook endpoints respond. Each webhook has one item, which is created and deleted together with it. */
export function webhookHealthStore({ table }: { table: Table }) {
  /** Writes what an attempt has changed since the health was read. The time of the first failure stays. */
  async function record(
    clinic: ClinicId,
    webhook: string,
    before: WebhookHealth,
    { isSlow, failingSince }: WebhookHealth,
  ): Promise<void> {
    const sets: string[] = []
    const values: Record<string, number | boolean> = {}
    if (isSlow !== before.isSlow) {
      sets.push('isSlow = :slow')
      values[':slow'] = isSlow
    }
    if (failingSince !== null && before.failingSince === null) {
      sets.push('failingSince = if_not_exists(failingSince, :since)')
      values[':since'] = failingSince
    }
    const hasRecovered = failingSince === null && before.failingSince !== null
    if (sets.length === 0 && !hasRecovered) return
    await changeHealth(table, webhookHealthKey(clinic, webhook), {
      UpdateExpression: `${sets.length > 0 ? `SET ${sets.join(', ')}` : ''}${hasRecovered ? ' REMOVE failingSince' : ''}`,
      ...(sets.length > 0 && { ExpressionAttributeValues: values }),
    })
  }

  /** Records that a person has enabled the webhook: what its endpoint did before no longer counts. */
  const reset = (clinic: ClinicId, webhook: string): Promise<void> =>
    changeHealth(table, webhookHealthKey(clinic, webhook), {
      UpdateExpression: 'REMOVE isSlow, failingSince',
    })

  return { record, reset }
}

/** Changes nothing if the condition does not hold, or the webhook was deleted: its health must not be created again. */
async function changeHealth(table: Table, key: Key, parts: UpdateParts): Promise<void> {
  try {
    const exists = 'attribute_exists(pk)'
    const condition = parts.ConditionExpression ? `${exists} AND ${parts.ConditionExpression}` : exists
    await table.update(key, { ...parts, ConditionExpression: condition })
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
  }
}

/** The health of the clinic's webhooks, by the id of the webhook. */
export async function listWebhookHealth(
  table: Table,
  clinic: ClinicId,
): Promise<ReadonlyMap<string, WebhookHealth>> {
  const items = await table.query({ pk: webhookHealthPartition(clinic), limit: MAX_WEBHOOKS })
  return new Map(items.map((item) => [parseWebhookHealthKey(item), decodeHealth(item)]))
}

/**
 * Leaves a pause of the clinic out of the time for which its endpoints have failed: nothing is delivered during it, so none
 * can succeed. Called before the pause ends.
 */
export async function excludePause(
  table: Table,
  clinic: ClinicId,
  from: number,
  until: number,
): Promise<void> {
  for (const [webhook, { failingSince }] of await listWebhookHealth(table, clinic)) {
    if (failingSince === null || failingSince >= until) continue
    await changeHealth(table, webhookHealthKey(clinic, webhook), {
      UpdateExpression: 'SET failingSince = :moved',
      ConditionExpression: 'failingSince = :read',
      ExpressionAttributeValues: {
        ':read': failingSince,
        // An attempt that had begun before the pause can fail during it.
        ':moved': failingSince + until - Math.max(from, failingSince),
      },
    })
  }
}
