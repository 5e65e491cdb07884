import type { ClinicId } from '../../domain/clinic.ts'
import { MAX_WEBHOOKS } from '../../domain/webhooks/webhook.ts'
import type { AttemptHealth, Permit, WebhookHealth } from '../../domain/webhooks/webhook-health.ts'
import type { Key } from '../keys/key.ts'
import { parseWebhookHealthKey, webhookHealthKey, webhookHealthPartition } from '../keys/webhooks.ts'
import { ConditionFailed } from '../table/errors.ts'
import type { Table } from '../table/table.ts'
import type { Item, UpdateParts } from '../table/write-requests.ts'
import { decodeHealth } from './items.ts'

/** How webhook endpoints respond. Each webhook has one item, which is created and deleted together with it. */
export function webhookHealthStore({ table }: { table: Table }) {
  const change = (clinic: ClinicId, webhook: string, parts: UpdateParts) =>
    changeHealth(table, webhookHealthKey(clinic, webhook), parts)

  /**
   * Takes a permit. False if it was taken since the health was read, or an open circuit was tried, or the webhook was deleted.
   */
  const takePermit = async (
    clinic: ClinicId,
    webhook: string,
    { permits, failedTrials }: WebhookHealth,
    { number, until }: Permit,
  ): Promise<boolean> =>
    null !==
    (await change(clinic, webhook, {
      UpdateExpression: 'SET #slot = :until REMOVE queued',
      // If it succeeds with its response lost, the permit stays taken until its lease ends.
      ConditionExpression: `probes = :probes AND ${permits[number] === 0 ? '(attribute_not_exists(#slot) OR #slot = :read)' : '#slot = :read'}`,
      ExpressionAttributeNames: { '#slot': `slot${number}` },
      ExpressionAttributeValues: { ':until': until, ':read': permits[number], ':probes': failedTrials },
    }))

  /** Records that a delivery is in the slow queue. False if another is, or the endpoint was tried since the health was read. */
  const recordQueued = async (
    clinic: ClinicId,
    webhook: string,
    { queued, failedTrials }: WebhookHealth,
    next: NonNullable<WebhookHealth['queued']>,
  ): Promise<boolean> =>
    null !==
    (await change(clinic, webhook, {
      UpdateExpression: 'SET queued = :next',
      // The update may have succeeded earlier with its response lost.
      ConditionExpression: `probes = :probes AND (queued = :next OR ${queued ? 'queued = :read' : 'attribute_not_exists(queued)'})`,
      ExpressionAttributeValues: {
        ':next': next,
        ':probes': failedTrials,
        ...(queued && { ':read': queued }),
      },
    }))

  /**
   * Records an attempt, and frees its permit. The time of the first failure stays. Returns the health afterwards; null if the
   * webhook was deleted.
   */
  async function record(
    clinic: ClinicId,
    webhook: string,
    attempt: AttemptHealth,
  ): Promise<WebhookHealth | null> {
    const { sets, values, removes } = updateOf(attempt)
    const update = (sets: readonly string[], values: Record<string, number | boolean>, condition?: string) =>
      change(clinic, webhook, {
        UpdateExpression: `SET ${sets.join(', ')} ${removes}`,
        ExpressionAttributeValues: values,
        ReturnValues: 'ALL_NEW',
        ...(condition && { ConditionExpression: condition }),
      })
    const { permit } = attempt
    const name = `slot${permit?.number}`
    const item =
      (permit &&
        (await update(
          [...sets, `${name} = :free`],
          { ...values, ':free': 0, ':mine': permit.until },
          `${name} = :mine`,
        ))) ??
      // Its lease has ended, and another attempt may have taken the permit.
      (await update(sets, values))
    return item ? decodeHealth(item) : null
  }

  /** Records that a person has enabled the webhook: what its endpoint did before no longer counts. */
  async function reset(clinic: ClinicId, webhook: string): Promise<void> {
    await change(clinic, webhook, {
      UpdateExpression:
        'SET proven = :no, failures = :zero, slow = :zero, probes = :zero, answering = :no REMOVE failingSince, probeAt, queued',
      ExpressionAttributeValues: { ':zero': 0, ':no': false },
    })
  }

  /**
   * Records that a delivery waits. `wasQueued` if the slow queue was reserved for it. Returns the health afterwards; null if the
   * webhook was deleted.
   */
  async function recordWaiting(
    clinic: ClinicId,
    webhook: string,
    at: number,
    wasQueued = false,
  ): Promise<WebhookHealth | null> {
    const item = await change(clinic, webhook, {
      UpdateExpression: `SET waiting = :at${wasQueued ? ' REMOVE queued' : ''}`,
      ExpressionAttributeValues: { ':at': at },
      ReturnValues: 'ALL_NEW',
    })
    return item && decodeHealth(item)
  }

  /** Records that no delivery waits, unless another has begun to wait since `read`. */
  async function clearWaiting(clinic: ClinicId, webhook: string, read: number): Promise<void> {
    await change(clinic, webhook, {
      UpdateExpression: 'REMOVE waiting',
      ConditionExpression: 'waiting = :read',
      ExpressionAttributeValues: { ':read': read },
    })
  }

  return { takePermit, recordQueued, record, reset, recordWaiting, clearWaiting }
}

/** The update of an endpoint's health by an attempt, apart from its permit. */
function updateOf({ result, at, isSlow, halfOpenAt, permit, isWaiting }: AttemptHealth) {
  const isSuccess = result === 'success'
  const values: Record<string, number | boolean> = {}
  const sets: string[] = []
  const set = (expression: string, name: string, value: number | boolean) => {
    sets.push(expression)
    values[name] = value
  }
  if (isSlow) set('slow = slow + :one', ':one', 1)
  else if (isSuccess) set('slow = :zero', ':zero', 0)
  if (result !== 'cut-off') set('answering = :answering', ':answering', isSuccess && isSlow)
  if (isSuccess) {
    set('failures = :zero, probes = :zero', ':zero', 0)
    set('proven = :proven', ':proven', true)
  }
  if (result === 'failure') {
    set('failures = failures + :one', ':one', 1)
    set('failingSince = if_not_exists(failingSince, :at)', ':at', at)
  }
  if (halfOpenAt !== null) {
    set('probeAt = :probe', ':probe', halfOpenAt)
    if (permit) set('probes = probes + :one', ':one', 1)
  }
  if (isWaiting) set('waiting = :at', ':at', at)
  return { sets, values, removes: isSuccess ? 'REMOVE failingSince, probeAt, queued' : '' }
}

/**
 * Returns the attributes that the update asks for, or null if its condition does not hold. A delivery can end after its
 * webhook was deleted, whose health must not be created again.
 */
async function changeHealth(table: Table, key: Key, parts: UpdateParts): Promise<Item | null> {
  try {
    const exists = 'attribute_exists(pk)'
    const condition = parts.ConditionExpression ? `${exists} AND ${parts.ConditionExpression}` : exists
    return { ...key, ...(await table.update(key, { ...parts, ConditionExpression: condition })) }
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    return null
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
