/** Checks of the stored webhook endpoints and their deliveries when a history has ended. */
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { webhookStore } from '../../../shared/store/events/webhooks.ts'
import { webhookCountKey } from '../../../shared/store/keys/webhooks.ts'
import type { ClinicModel, WebhookModel } from '../model.ts'
import { demand } from '../register.ts'
import type { World } from '../world.ts'
import type { StoredEvent } from './events.ts'
import { compareExistence, readAll, readCursorList } from './read-lists.ts'

export async function checkWebhooks(
  world: World,
  clinic: ClinicModel,
  events: readonly StoredEvent[],
): Promise<void> {
  const stored = await readAll(world, clinic, 'list-webhooks')
  const expected = clinic.webhooks.map((model) => ({
    ...model,
    existence:
      model.deletion === 'none' ? model.existence : model.deletion === 'certain' ? 'none' : 'possible',
  }))
  compareExistence(
    'webhook',
    expected,
    stored,
    ({ url }, record) => record.url === url,
    ({ token }) => token,
  )
  const counter = await world.table.get(webhookCountKey(clinic.id as ClinicId))
  demand(
    (counter?.n ?? 0) === stored.length,
    () => `the count of webhooks is ${counter?.n}, there are ${stored.length}`,
  )
  for (const model of clinic.webhooks) {
    const record = stored.find(({ url }) => url === model.url)
    if (record) await checkWebhook(world, clinic, { ...model, id: record.id }, record.description, events)
  }
}

async function checkWebhook(
  world: World,
  clinic: ClinicModel,
  model: WebhookModel & { id: string },
  description: string,
  events: readonly StoredEvent[],
): Promise<void> {
  const descriptions = model.description.possible()
  demand(
    descriptions.includes(description),
    () => `${model.token} is described as ${description}, not ${descriptions}`,
  )
  const secret = (await webhookStore(world).find(clinic.id as ClinicId, model.id))?.secret ?? ''
  demand(
    model.secret.possible().includes(secret),
    () => `${model.token} has a secret that was not the last one`,
  )
  const deliveries = await readCursorList(world, clinic, 'list-deliveries', { id: model.id })
  const ids = deliveries.map(({ event_id }) => event_id)
  demand(new Set(ids).size === ids.length, () => `${model.token} has two deliveries of one event`)
  const pings = deliveries.filter(({ event }) => event === 'webhook.ping')
  const { certain, possible } = model.pings
  const lost = [...certain].find((id) => !pings.some((ping) => ping.id === id))
  demand(lost === undefined, () => `a ping of ${model.token} is lost`)
  demand(
    pings.length <= certain.size + possible,
    () => `${model.token} has ${pings.length} pings, not ${certain.size}`,
  )
  const open = deliveries.find(({ status }) => status !== 'delivered' && status !== 'succeeded')
  demand(open === undefined, () => `a delivery to ${model.token} is ${open?.status}`)
  // An endpoint that existed before a record was created gets all events of the record.
  for (const { id, createdAfter } of events)
    if (createdAfter > model.confirmedAt)
      demand(ids.includes(id), () => `${model.token} has no delivery of ${id}`)
}
