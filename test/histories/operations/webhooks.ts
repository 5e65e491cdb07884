/** Operations on webhook endpoints. */
import { EVENTS } from '../../../shared/domain/webhooks/event.ts'
import { identified, type WebhookModel } from '../model.ts'
import { demand, Register, tick } from '../register.ts'
import { pick, type Run, read, submit } from '../run.ts'

/** The API allows 20; some of a history's creations may have taken effect without a response. */
const MAX_CREATED = 15

const secretOf = ({ operation }: Run, name: string): string =>
  `secret-of-${name}-${operation.number}-long-enough`

export async function createWebhook(run: Run): Promise<void> {
  const { clinic, operation } = run
  if (clinic.webhooks.length >= MAX_CREATED) return
  const token = `w${operation.number}${clinic.suffix}`
  const url = run.world.webhookUrl(token)
  const secret = secretOf(run, 'creation')
  const webhook: WebhookModel = {
    ...{
      token,
      url,
      id: null,
      existence: 'possible',
      confirmedAt: Number.POSITIVE_INFINITY,
      deletion: 'none',
    },
    description: new Register(token),
    secret: new Register(secret),
    deletionStart: Number.POSITIVE_INFINITY,
    deletions: 0,
    pings: { certain: new Set(), possible: 0 },
  }
  clinic.webhooks.push(webhook)
  const outcome = await submit(run, 'create-webhook', {
    body: { url, events: EVENTS, description: token, secret },
  })
  if (outcome.kind === 'unknown') return
  demand(outcome.kind === 'done', () => `a webhook was rejected: ${JSON.stringify(outcome)}`)
  webhook.id = outcome.body.data.id
  webhook.existence = 'certain'
  webhook.confirmedAt = tick()
}

const chosen = ({ clinic, operation }: Run) => pick(identified(clinic.webhooks), operation.random[0])

/** A request for an endpoint may return 404 only if the endpoint may have been deleted. */
function demandKnown(
  webhook: WebhookModel,
  outcome: { readonly kind: string; readonly status?: number },
): void {
  if (outcome.kind !== 'rejected') return
  demand(outcome.status === 404, () => `a request for ${webhook.token} returned ${outcome.status}`)
  demand(webhook.deletion !== 'none', () => `${webhook.token} was not found`)
}

export async function updateWebhook(run: Run): Promise<void> {
  const webhook = chosen(run)
  if (!webhook) return
  const description = `u${run.operation.number}`
  const write = webhook.description.begin(description)
  const outcome = await submit(
    // A PATCH has no Idempotency-Key.
    { ...run, operation: { ...run.operation, keyed: false, doubled: false } },
    'update-webhook',
    { path: { id: webhook.id }, body: { description } },
  )
  demandKnown(webhook, outcome)
  if (outcome.kind !== 'unknown')
    webhook.description.settle(write, outcome.kind === 'done' ? 'certain' : 'none')
}

export async function rotateSecret(run: Run): Promise<void> {
  const webhook = chosen(run)
  if (!webhook) return
  const secret = secretOf(run, 'rotation')
  const write = webhook.secret.begin(secret)
  const outcome = await submit(run, 'rotate-webhook-secret', { path: { id: webhook.id }, body: { secret } })
  const isRejectedForNow = outcome.kind === 'rejected' && outcome.body?.error === 'TOO_MANY_ROTATIONS'
  if (!isRejectedForNow) demandKnown(webhook, outcome)
  // A repetition shows null if the secret has been replaced, or the endpoint deleted, in the meantime.
  if (outcome.kind === 'done')
    demand([secret, null].includes(outcome.body.data.secret), () => 'a rotation returned another secret')
  if (outcome.kind !== 'unknown') webhook.secret.settle(write, outcome.kind === 'done' ? 'certain' : 'none')
}

export async function pingWebhook(run: Run): Promise<void> {
  const webhook = chosen(run)
  if (!webhook) return
  webhook.pings.possible++
  const outcome = await submit(run, 'ping-webhook', { path: { id: webhook.id }, body: {} })
  demandKnown(webhook, outcome)
  if (outcome.kind !== 'unknown') webhook.pings.possible--
  if (outcome.kind === 'done') webhook.pings.certain.add(outcome.body.data.id)
}

/** Sends one of the endpoint's events again. Another attempt, and no other delivery. */
export async function redeliver(run: Run): Promise<void> {
  const webhook = chosen(run)
  if (!webhook) return
  const list = await read(run, 'list-deliveries', { path: { id: webhook.id } })
  const delivery = list?.status === 200 && pick<any>(list.body.data, run.operation.random[1])
  if (!delivery) return
  const outcome = await submit(run, 'redeliver', {
    path: { id: webhook.id, delivery_id: delivery.id },
    body: {},
  })
  demandKnown(webhook, outcome)
  if (outcome.kind === 'done')
    demand(
      outcome.body.data.id === delivery.id,
      () => `redelivery of ${delivery.id} returned another delivery`,
    )
}

export async function deleteWebhook(run: Run): Promise<void> {
  const webhook = chosen(run)
  if (!webhook) return
  webhook.deletions++
  webhook.deletionStart = Math.min(webhook.deletionStart, tick())
  webhook.deletion = webhook.deletion === 'certain' ? 'certain' : 'possible'
  const outcome = await submit(
    { ...run, operation: { ...run.operation, keyed: false, doubled: false } },
    'delete-webhook',
    { path: { id: webhook.id } },
  )
  if (outcome.kind === 'unknown') return
  if (outcome.kind === 'rejected')
    demand(webhook.deletions > 1, () => `the only deletion of ${webhook.token} returned ${outcome.status}`)
  webhook.deletion = 'certain'
}

export async function listWebhooks(run: Run): Promise<void> {
  const { clinic } = run
  const committed = identified(clinic.webhooks)
  const response = await read(run, 'list-webhooks', { query: { limit: '100' } })
  if (!response) return
  const ids = response.body.data.map(({ id }: { id: string }) => id)
  demand(new Set(ids).size === ids.length, () => 'the webhooks list has one twice')
  const missing = committed.find(({ id, deletion }) => deletion === 'none' && !ids.includes(id))
  demand(!missing, () => `webhook ${missing?.token} is missing from its list`)
}

export async function listDeliveries(run: Run): Promise<void> {
  const webhook = chosen(run)
  if (!webhook) return
  const response = await read(run, 'list-deliveries', { path: { id: webhook.id }, query: { limit: '100' } })
  if (!response) return
  demandKnown(
    webhook,
    response.status === 200 ? { kind: 'done' } : { kind: 'rejected', status: response.status },
  )
  if (response.status !== 200) return
  const events = response.body.data.map(({ event_id }: { event_id: string }) => event_id)
  demand(new Set(events).size === events.length, () => `${webhook.token} has two deliveries of one event`)
}
