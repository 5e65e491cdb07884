import type { ClinicId } from '../../domain/clinic.ts'
import { HEALTHY, MAX_WEBHOOKS, type Webhook, type WebhookHealth } from '../../domain/webhook.ts'
import type { Key } from '../keys/key.ts'
import { webhookCountKey, webhookHealthKey, webhookKey, webhooksPartition } from '../keys/webhooks.ts'
import { Changeset } from '../table/changeset.ts'
import type { IdempotencyGuard, ResponseToStore, StoredResponse } from '../table/idempotency.ts'
import { retryOnConflict } from '../table/retry-on-conflict.ts'
import { ConditionFailed, type Item, type Table } from '../table/table.ts'

/** The clinic has as many as it may. */
export class TooManyWebhooks extends Error {}

/** Webhook endpoints, and how each behaves. Secrets are under the table's own key, like everything in it. */
export function webhookStore({ table }: { table: Table }) {
  /** Oldest first. */
  async function list(clinic: ClinicId): Promise<Webhook[]> {
    const items = await table.query({ pk: webhooksPartition(clinic), limit: 2 * MAX_WEBHOOKS })
    return items.map(toWebhook).sort((a, b) => (a.createdAt + a.id < b.createdAt + b.id ? -1 : 1))
  }

  async function find(clinic: ClinicId, id: string): Promise<Webhook | null> {
    const item = await table.get(webhookKey(clinic, id))
    return item ? toWebhook(item) : null
  }

  /** Enters a webhook with the answer to keep; the kept answer when the same request came before. @throws TooManyWebhooks */
  async function create(
    clinic: ClinicId,
    webhook: Webhook,
    idempotency: IdempotencyGuard,
    status: number,
    response: unknown,
  ): Promise<StoredResponse | null> {
    return retryOnConflict(async () => {
      const [storedResponse, count] = await Promise.all([
        idempotency.find(),
        table.get(webhookCountKey(clinic)),
      ])
      if (storedResponse) return storedResponse
      if (((count?.n as number | undefined) ?? 0) >= MAX_WEBHOOKS) throw new TooManyWebhooks()
      const changes = new Changeset(table, clinic)
      changes.put(toItem(webhookKey(clinic, webhook.id), webhook, 1), 'new')
      changes.add(webhookCountKey(clinic), 'n', 1)
      changes.limitCounter(webhookCountKey(clinic), 'n', MAX_WEBHOOKS)
      idempotency.store(changes, status, response, '')
      await changes.commit()
      return null
    })
  }

  /** Changes a webhook; null when there is none. Changing nothing writes nothing. */
  async function change(
    clinic: ClinicId,
    id: string,
    apply: (before: Webhook) => Webhook,
  ): Promise<Webhook | null> {
    return retryOnConflict(async () => {
      const item = await table.get(webhookKey(clinic, id))
      return item ? write(clinic, item, apply) : null
    })
  }

  /** The same with the answer to keep; the kept answer when the same request came before. */
  async function changeIdempotently(
    clinic: ClinicId,
    id: string,
    apply: (before: Webhook) => Webhook,
    { idempotency, status, response }: ResponseToStore<Webhook>,
  ): Promise<StoredResponse | Webhook | null> {
    return retryOnConflict(async () => {
      const [storedResponse, item] = await Promise.all([
        idempotency.find(),
        table.get(webhookKey(clinic, id)),
      ])
      if (storedResponse || !item) return storedResponse
      return write(clinic, item, apply, (changes, after) =>
        idempotency.store(changes, status, response(after), ''),
      )
    })
  }

  async function write(
    clinic: ClinicId,
    item: Item,
    apply: (before: Webhook) => Webhook,
    extendChanges: (changes: Changeset, after: Webhook) => void = () => {},
  ): Promise<Webhook> {
    const before = toWebhook(item)
    const after = apply(before)
    const changes = new Changeset(table, clinic)
    if (JSON.stringify(before) !== JSON.stringify(after)) {
      const version = item.v as number
      changes.put(toItem(webhookKey(clinic, after.id), after, version + 1), { version })
    }
    extendChanges(changes, after)
    await changes.commit()
    return after
  }

  /** False when there is none. */
  async function remove(clinic: ClinicId, id: string): Promise<boolean> {
    try {
      const changes = new Changeset(table, clinic)
      changes.removeExisting(webhookKey(clinic, id))
      changes.add(webhookCountKey(clinic), 'n', -1)
      changes.remove(webhookHealthKey(clinic, id))
      await changes.commit()
      return true
    } catch (error) {
      if (error instanceof ConditionFailed) return false
      throw error
    }
  }

  /** Notes a failed attempt, or a slow one; when it began to fail stays. */
  async function recordFailure(clinic: ClinicId, id: string, failedAt: number | null): Promise<void> {
    await table.update(webhookHealthKey(clinic, id), {
      UpdateExpression:
        failedAt === null
          ? 'SET slow = :yes'
          : 'SET slow = :yes, failingSince = if_not_exists(failingSince, :at)',
      ExpressionAttributeValues: { ':yes': true, ...(failedAt !== null && { ':at': failedAt }) },
    })
  }

  /** Notes that all is well again. */
  const recordRecovery = (clinic: ClinicId, id: string): Promise<void> =>
    table.transact([table.deleteWrite(webhookHealthKey(clinic, id))])

  return { list, find, create, change, changeIdempotently, remove, recordFailure, recordRecovery }
}

export function toHealth(item: Item | undefined): WebhookHealth {
  if (!item) return HEALTHY
  return {
    failingSince: (item.failingSince as number | undefined) ?? null,
    isSlow: item.slow === true,
  }
}

const toItem = (key: Key, { id: _, ...webhook }: Webhook, version: number): Item => ({
  ...key,
  ...webhook,
  v: version,
})

export function toWebhook({ pk: _, sk, v: __, ...webhook }: Item): Webhook {
  return { id: sk, ...(webhook as Omit<Webhook, 'id'>) }
}
