import type { ClinicId } from '../../domain/clinic.ts'
import { MAX_WEBHOOKS, type Webhook } from '../../domain/webhooks/webhook.ts'
import { ACTIVE_VERSION } from '../credentials.ts'
import { clinicCredentialKey } from '../keys/clinics.ts'
import { webhookCountKey, webhookHealthKey, webhookKey, webhooksPartition } from '../keys/webhooks.ts'
import { Changeset } from '../table/changeset.ts'
import { ConditionFailed } from '../table/errors.ts'
import { type IdempotencyGuard, type ResponseToStore, StoredResponse } from '../table/idempotency.ts'
import { retryOnConflict } from '../table/retry-on-conflict.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'
import { decodeCounter, decodeVersion, decodeWebhook, encodeHealth, encodeWebhook } from './items.ts'

/** The clinic already has {@link MAX_WEBHOOKS}. */
export class TooManyWebhooks extends Error {}

/** The credential of the request has been revoked since the request was authenticated. */
export class CredentialRevoked extends Error {}

/** The response to a request that sets a secret. */
type ResponseWithSecret = { readonly data: { readonly id: string; readonly secret: string | null } }

/** The response as it is stored: with the number of the secret in its place, since the webhook's item has the secret. */
const withSecretNumber = ({ data, ...rest }: ResponseWithSecret, { secretNumber }: Webhook) => ({
  ...rest,
  data: { ...data, secret: secretNumber },
})

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
   * Creates a webhook together with its idempotent response. Returns the stored response if the request is a repeat.
   * @throws TooManyWebhooks; CredentialRevoked, so that revoking a credential can also delete all webhooks that it created
   */
  async function create(
    clinic: ClinicId,
    webhook: Webhook,
    idempotency: IdempotencyGuard,
    status: number,
    response: ResponseWithSecret,
  ): Promise<StoredResponse | null> {
    const creatorKey = clinicCredentialKey(clinic, webhook.createdBy)
    return retryOnConflict(async () => {
      const [storedResponse, count, creator] = await Promise.all([
        idempotency.find(),
        table.get(webhookCountKey(clinic)),
        table.get(creatorKey),
      ])
      if (storedResponse) return withSecret(clinic, storedResponse)
      if (decodeCounter(count).n >= MAX_WEBHOOKS) throw new TooManyWebhooks()
      if (!creator || decodeVersion(creator) !== ACTIVE_VERSION) throw new CredentialRevoked()
      const changes = new Changeset(table, clinic)
      changes.requireVersion(creatorKey, ACTIVE_VERSION)
      changes.put(encodeWebhook(clinic, webhook, 1), 'new')
      changes.put(encodeHealth(clinic, webhook), 'new')
      changes.add(webhookCountKey(clinic), 'n', 1)
      changes.limitCounter(webhookCountKey(clinic), 'n', MAX_WEBHOOKS)
      idempotency.store(changes, status, withSecretNumber(response, webhook), '')
      await changes.commit()
      return null
    })
  }

  /** Changes a webhook; null for an unknown one. If nothing changes, nothing is written. */
  const change = (clinic: ClinicId, id: string, apply: Apply): Promise<Webhook | null> =>
    retryOnConflict(async () => {
      const item = await table.get(webhookKey(clinic, id))
      return item ? write(clinic, item, apply) : null
    })

  /**
   * Disables a webhook that is active, and has no effect on any other. The update names no attributes but these: the worker that
   * delivers may update no others.
   */
  async function disable(clinic: ClinicId, id: string, updatedAt: string): Promise<void> {
    try {
      await table.update(webhookKey(clinic, id), {
        UpdateExpression: 'SET isActive = :no, updatedAt = :at ADD v :one',
        ConditionExpression: 'isActive = :yes',
        ExpressionAttributeValues: { ':no': false, ':yes': true, ':at': updatedAt, ':one': 1 },
      })
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
    }
  }

  /**
   * Changes a webhook together with its idempotent response; null for an unknown webhook. Returns the stored response if the
   * request is a repeat.
   */
  async function changeIdempotently(
    clinic: ClinicId,
    id: string,
    apply: Apply,
    { idempotency, status, response }: ResponseToStore<Webhook>,
  ): Promise<StoredResponse | Webhook | null> {
    return retryOnConflict(async () => {
      const [storedResponse, item] = await Promise.all([
        idempotency.find(),
        table.get(webhookKey(clinic, id)),
      ])
      if (storedResponse) return storedResponse
      if (!item) return null
      return write(clinic, item, apply, (changes, after) =>
        idempotency.store(changes, status, response(after), ''),
      )
    })
  }

  /** The same for a change of the secret, which the response contains. */
  async function changeSecret(
    clinic: ClinicId,
    id: string,
    apply: Apply,
    { response, ...toStore }: ResponseToStore<Webhook, ResponseWithSecret>,
  ): Promise<StoredResponse | Webhook | null> {
    const changed = await changeIdempotently(clinic, id, apply, {
      ...toStore,
      response: (after) => withSecretNumber(response(after), after),
    })
    return changed instanceof StoredResponse ? withSecret(clinic, changed) : changed
  }

  /** Deletes a webhook and its health; false for an unknown webhook. `check` gets the webhook that is deleted, and may throw. */
  const remove = (clinic: ClinicId, id: string, check: (before: Webhook) => void = () => {}) =>
    retryOnConflict(async (): Promise<boolean> => {
      const item = await table.get(webhookKey(clinic, id))
      if (!item) return false
      check(decodeWebhook(item))
      const changes = new Changeset(table, clinic)
      changes.remove(webhookKey(clinic, id), decodeVersion(item))
      changes.add(webhookCountKey(clinic), 'n', -1)
      changes.remove(webhookHealthKey(clinic, id))
      await changes.commit()
      return true
    })

  /** A stored response with its secret; with null if the webhook was deleted or its secret was replaced. */
  async function withSecret(clinic: ClinicId, { status, body }: StoredResponse): Promise<StoredResponse> {
    const response = JSON.parse(body) as ReturnType<typeof withSecretNumber>
    const webhook = await find(clinic, response.data.id)
    const secret = webhook?.secretNumber === response.data.secret ? webhook.secret : null
    return new StoredResponse(status, JSON.stringify({ ...response, data: { ...response.data, secret } }))
  }

  /** Writes the new state of a webhook, if it differs, together with `extendChanges`. */
  async function write(
    clinic: ClinicId,
    item: Item,
    apply: Apply,
    extendChanges: (changes: Changeset, after: Webhook) => void = () => {},
  ): Promise<Webhook> {
    const before = decodeWebhook(item)
    const after = apply(before)
    const changes = new Changeset(table, clinic)
    if (JSON.stringify(before) !== JSON.stringify(after)) {
      const version = decodeVersion(item)
      changes.put(encodeWebhook(clinic, after, version + 1), { version })
    }
    extendChanges(changes, after)
    await changes.commit()
    return after
  }

  return { list, find, create, change, disable, changeIdempotently, changeSecret, remove }
}
