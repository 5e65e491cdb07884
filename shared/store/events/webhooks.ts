import type { ClinicId } from '../../domain/clinic.ts'
import type { KeptAnswer } from '../../domain/stored-response.ts'
import { HEALTHY, MOST_WEBHOOKS, type Webhook, type WebhookHealth } from '../../domain/webhook.ts'
import type { Key } from '../keys/key.ts'
import { webhookCountKey, webhookHealthKey, webhookKey, webhooksPartition } from '../keys/webhooks.ts'
import { Changeset } from '../table/changeset.ts'
import type { Answered, Once } from '../table/idempotency.ts'
import { uncontested } from '../table/retry-on-conflict.ts'
import { ConditionFailed, type Item, type Table } from '../table/table.ts'

/** The clinic has as many as it may. */
export class TooManyWebhooks extends Error {}

/** Webhook endpoints, and how each behaves. Secrets are under the table's own key, like everything in it. */
export function webhookStore({ table }: { table: Table }) {
  /** Oldest first. */
  async function list(clinic: ClinicId): Promise<Webhook[]> {
    const items = await table.query({ pk: webhooksPartition(clinic), limit: 2 * MOST_WEBHOOKS })
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
    once: Once,
    status: number,
    answer: unknown,
  ): Promise<KeptAnswer | null> {
    return uncontested(async () => {
      const [kept, count] = await Promise.all([once.find(), table.get(webhookCountKey(clinic))])
      if (kept) return kept
      if (((count?.n as number | undefined) ?? 0) >= MOST_WEBHOOKS) throw new TooManyWebhooks()
      const changes = new Changeset(table, clinic)
      changes.put(toItem(webhookKey(clinic, webhook.id), webhook, 1), 'new')
      changes.add(webhookCountKey(clinic), 'n', 1)
      changes.below(webhookCountKey(clinic), 'n', MOST_WEBHOOKS)
      once.keep(changes, status, answer, '')
      await changes.commit()
      return null
    })
  }

  /** Changes a webhook; null when there is none. Changing nothing writes nothing. */
  async function change(
    clinic: ClinicId,
    id: string,
    to: (before: Webhook) => Webhook,
  ): Promise<Webhook | null> {
    return uncontested(async () => {
      const item = await table.get(webhookKey(clinic, id))
      return item ? write(clinic, item, to) : null
    })
  }

  /** The same with the answer to keep; the kept answer when the same request came before. */
  async function changeOnce(
    clinic: ClinicId,
    id: string,
    to: (before: Webhook) => Webhook,
    { once, status, answer }: Answered<Webhook>,
  ): Promise<KeptAnswer | Webhook | null> {
    return uncontested(async () => {
      const [kept, item] = await Promise.all([once.find(), table.get(webhookKey(clinic, id))])
      if (kept || !item) return kept
      return write(clinic, item, to, (changes, after) => once.keep(changes, status, answer(after), ''))
    })
  }

  async function write(
    clinic: ClinicId,
    item: Item,
    to: (before: Webhook) => Webhook,
    also: (changes: Changeset, after: Webhook) => void = () => {},
  ): Promise<Webhook> {
    const before = toWebhook(item)
    const after = to(before)
    const changes = new Changeset(table, clinic)
    if (JSON.stringify(before) !== JSON.stringify(after)) {
      const version = item.v as number
      changes.put(toItem(webhookKey(clinic, after.id), after, version + 1), { version })
    }
    also(changes, after)
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
  async function noteTrouble(clinic: ClinicId, id: string, failedAt: number | null): Promise<void> {
    await table.update(webhookHealthKey(clinic, id), {
      UpdateExpression:
        failedAt === null
          ? 'SET slow = :yes'
          : 'SET slow = :yes, failingSince = if_not_exists(failingSince, :at)',
      ExpressionAttributeValues: { ':yes': true, ...(failedAt !== null && { ':at': failedAt }) },
    })
  }

  /** Notes that all is well again. */
  const noteHealth = (clinic: ClinicId, id: string): Promise<void> =>
    table.transact([table.deleteWrite(webhookHealthKey(clinic, id))])

  return { list, find, create, change, changeOnce, remove, noteTrouble, noteHealth }
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
