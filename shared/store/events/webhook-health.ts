import type { ClinicId } from '../../domain/clinic.ts'
import { MAX_WEBHOOKS } from '../../domain/webhooks/webhook.ts'
import type { WebhookHealth } from '../../domain/webhooks/webhook-health.ts'
import { parseWebhookHealthKey, webhookHealthKey, webhookHealthPartition } from '../keys/webhooks.ts'
import { ifConditionHolds } from '../table/errors.ts'
import type { Table } from '../table/table.ts'
import { decodeHealth } from './items.ts'

/** How webhook endpoints respond. Each webhook has one item, which is created and deleted together with it. */
export function webhookHealthStore({ table }: { table: Table }) {
  /** The health of a webhook, that of a new one if it does not exist. */
  const find = async (clinic: ClinicId, webhook: string): Promise<WebhookHealth> =>
    decodeHealth((await table.get(webhookHealthKey(clinic, webhook))) ?? undefined)

  /** Writes what an attempt has changed since the health was read. The time of the first failure stays. */
  async function record(
    clinic: ClinicId,
    webhook: string,
    before: WebhookHealth,
    { isSlow, failingSince }: WebhookHealth,
  ): Promise<void> {
    const isFirst = before.failingSince === null && failingSince !== null
    const hasRecovered = before.failingSince !== null && failingSince === null
    if (isSlow === before.isSlow && !isFirst && !hasRecovered) return
    const first = isFirst ? ', failingSince = if_not_exists(failingSince, :since)' : ''
    const update = table.update(webhookHealthKey(clinic, webhook), {
      UpdateExpression: `SET isSlow = :slow${first}${hasRecovered ? ' REMOVE failingSince' : ''}`,
      // The health of a webhook that was deleted must not be created again.
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':slow': isSlow, ...(isFirst && { ':since': failingSince }) },
    })
    await ifConditionHolds(update)
  }

  return { find, record }
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
 * can succeed. Called before the pause ends; a repetition for the same pause changes nothing.
 */
export async function excludePause(
  table: Table,
  clinic: ClinicId,
  from: number,
  until: number,
): Promise<void> {
  for (const [webhook, { failingSince }] of await listWebhookHealth(table, clinic)) {
    if (failingSince === null || failingSince >= until) continue
    const update = table.update(webhookHealthKey(clinic, webhook), {
      UpdateExpression: 'SET failingSince = :moved, excluded = :from',
      ConditionExpression: 'failingSince = :read AND (attribute_not_exists(excluded) OR excluded <> :from)',
      ExpressionAttributeValues: {
        ':read': failingSince,
        ':from': from,
        // An attempt that had begun before the pause can fail during it.
        ':moved': failingSince + until - Math.max(from, failingSince),
      },
    })
    await ifConditionHolds(update)
  }
}
