import type { ClinicId } from '../../domain/clinic.ts'
import { StoredResponse } from '../../domain/stored-response.ts'
import { MAX_WEBHOOKS, type Webhook } from '../../domain/webhooks/webhook.ts'
import { ACTIVE_VERSION } from '../credentials.ts'
import { clinicCredentialKey } from '../keys/clinics.ts'
import { webhookCountKey, webhookHealthKey, webhookKey, webhooksPartition } from '../keys/webhooks.ts'
import { Changeset } from '../table/changeset.ts'
import { ifConditionHolds } from '../table/errors.ts'
import { type RequestedWrite, UNREQUESTED } from '../table/idempotency.ts'
import { retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import { decodeCounter, decodeVersion, decodeWebhook, encodeWebhook } from './items.ts'

/** The clinic already has {@link MAX_WEBHOOKS}. */
export class TooManyWebhooks extends Error {}

/** The credential of the request has been revoked since the request was authenticated. */
export class CredentialRevoked extends Error {}

/** The body of a stored response with a secret: the number of the secret is in its place, since the webhook's item has the secret. */
type BodyWithSecret = { readonly data: { readonly id: string; readonly secret: string | number | null } }

type Apply = (before: Webhook) => Webhook

/** Webhooks with their secrets; the table is encrypted with its own key. */
export function webhookStore({ table }: { table: Table }) {
  /** Oldest first. */
  async function list(clinic: ClinicId): Promise<Webhook[]> {
    const items = await table.query({ pk: webhooksPartition(clinic), limit: 2 * MAX_WEBHOOKS })
    return items.map(decodeWebhook).sort((a, b) => (a.createdAt + a.id < b.createdAt + b.id ? -1 : 1))
  }

  async function find(clinic: ClinicId, id: string): Promise<Webhook | null> {
    const item = await table.get(webhookKey(clinic, id))
    return item ? decodeWebhook(item) : null
  }

  /**
   * Creates a webhook for a request.
   * @throws TooManyWebhooks; CredentialRevoked, so that revoking a credential can also delete all webhooks that it created;
   * RequestCompleted
   */
  async function create(clinic: ClinicId, webhook: Webhook, write: RequestedWrite<Webhook>): Promise<void> {
    const creatorKey = clinicCredentialKey(clinic, webhook.createdBy)
    await retryOnConflict(async () => {
      const [count, creator] = await Promise.all([
        table.get(webhookCountKey(clinic)),
        table.get(creatorKey),
        write.requireNew((stored) => withSecret(clinic, stored)),
      ])
      if (decodeCounter(count).n >= MAX_WEBHOOKS) throw new TooManyWebhooks()
      if (!creator || decodeVersion(creator) !== ACTIVE_VERSION) throw new CredentialRevoked()
      const changes = new Changeset(table, clinic)
      changes.requireVersion(creatorKey, ACTIVE_VERSION)
      changes.put(encodeWebhook(clinic, webhook, 1), 'new')
      changes.put(webhookHealthKey(clinic, webhook.id), 'new')
      changes.add(webhookCountKey(clinic), 'n', 1)
      changes.limitCounter(webhookCountKey(clinic), 'n', MAX_WEBHOOKS)
      write.store(changes, webhook, '')
      await changes.commit()
    })
  }

  /** Changes a webhook; null for an unknown one. If nothing changes, nothing is written but the response. @throws RequestCompleted */
  const change = (
    clinic: ClinicId,
    id: string,
    apply: Apply,
    write: RequestedWrite<Webhook> = UNREQUESTED,
    resetsHealth = false,
  ): Promise<Webhook | null> =>
    retryOnConflict(async () => {
      const [item] = await Promise.all([
        table.get(webhookKey(clinic, id)),
        write.requireNew((stored) => withSecret(clinic, stored)),
      ])
      if (!item) return null
      const before = decodeWebhook(item)
      write.requireMatch(before)
      const after = apply(before)
      const changes = new Changeset(table, clinic)
      if (JSON.stringify(before) !== JSON.stringify(after)) {
        const version = decodeVersion(item)
        changes.put(encodeWebhook(clinic, after, version + 1), { version })
      }
      // Not of a webhook that was deleted meanwhile.
      if (resetsHealth) changes.put(webhookHealthKey(clinic, id), { attribute: 'sk', equals: id })
      write.store(changes, after, '')
      await changes.commit()
      return after
    })

  /**
   * Disables a webhook that is active, and has no effect on any other. The update names no attributes but these: the worker that
   * delivers may update no others.
   */
  async function disable(clinic: ClinicId, id: string, updatedAt: string): Promise<void> {
    const update = table.update(webhookKey(clinic, id), {
      UpdateExpression: 'SET isActive = :no, updatedAt = :at ADD v :one',
      ConditionExpression: 'isActive = :yes',
      ExpressionAttributeValues: { ':no': false, ':yes': true, ':at': updatedAt, ':one': 1 },
    })
    await ifConditionHolds(update)
  }

  /** Deletes a webhook and its health; false for an unknown webhook. */
  const remove = (clinic: ClinicId, id: string, write: RequestedWrite<Webhook> = UNREQUESTED) =>
    retryOnConflict(async (): Promise<boolean> => {
      const item = await table.get(webhookKey(clinic, id))
      if (!item) return false
      write.requireMatch(decodeWebhook(item))
      const changes = new Changeset(table, clinic)
      changes.remove(webhookKey(clinic, id), decodeVersion(item))
      changes.add(webhookCountKey(clinic), 'n', -1)
      changes.remove(webhookHealthKey(clinic, id))
      await changes.commit()
      return true
    })

  /** A stored response with its secret, if it has one; with null if the webhook was deleted or its secret was replaced. */
  async function withSecret(clinic: ClinicId, stored: StoredResponse): Promise<StoredResponse> {
    const response: BodyWithSecret = JSON.parse(stored.body)
    if (response.data.secret === undefined) return stored
    const webhook = await find(clinic, response.data.id)
    const secret = webhook?.secretNumber === response.data.secret ? webhook.secret : null
    return new StoredResponse(
      stored.status,
      JSON.stringify({ ...response, data: { ...response.data, secret } }),
    )
  }

  return { list, find, create, change, disable, remove }
}
