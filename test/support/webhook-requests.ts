/** Calls of the webhook routes on the real engine with SQS mocked, and the items and messages that they write. */
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterEach, beforeAll, beforeEach, expect, vi } from 'vitest'
import { deliverEvent } from '../../shared/delivery/webhooks/deliver-event.ts'
import { readQueuedDelivery } from '../../shared/delivery/webhooks/delivery-queues.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import type { Webhook } from '../../shared/domain/webhooks/webhook.ts'
import { webhookStore } from '../../shared/store/events/webhooks.ts'
import { USAGE_PARTITION_PREFIX } from '../../shared/store/keys/clinics.ts'
import { allItems } from './all-items.ts'
import { issueCredential } from './credentials.ts'
import { deliverySimulation, httpResponse } from './deliveries.ts'
import { request, type SentRequest, stubFunctionEnvironment } from './functions.ts'
import { mockClient } from './mock-client.ts'
import { newClinic, type TestTable, tableOfFile } from './table.ts'
import { sortedJson } from './table-text.ts'

export const sqs = mockClient(SQSClient)

export let db: TestTable
export let clinic: Clinic
export let headers: Record<string, string>

/** Creates a table for the test file; empties it, and creates a clinic with a credential, before each test. */
export function useWebhookEndpoints(): void {
  db = tableOfFile()

  beforeAll(() => {
    stubFunctionEnvironment(db.name)
  })

  beforeEach(async () => {
    // Scans of the table would take longer with every test.
    await db.table.deleteMany(await allItems(db))
    sqs.reset()
    sqs.on(SendMessageBatchCommand).resolves({})
    clinic = await newClinic(db.table)
    headers = (await issueCredential(db.table, clinic)).headers
  })

  afterEach(() => {
    vi.useRealTimers()
  })
}

/** Sends the following requests with these headers, until the end of the test. */
export function sendWith(more: Record<string, string>): void {
  headers = more
}

/** Sends a request to a route with the headers of the test. */
export const callRoute = (id: string, { headers: more, ...sent }: SentRequest = {}) =>
  request(id, { headers: { ...headers, ...more }, ...sent })

export const webhookBody = (facts: object = {}) => ({
  url: 'https://example.com/hooks',
  events: ['patient.created', 'appointment.created'],
  ...facts,
})

export async function postWebhook(
  facts: object = {},
): Promise<{ id: string; secret: string; [field: string]: any }> {
  const { status, body } = await callRoute('create-webhook', { body: webhookBody(facts) })
  expect(status).toBe(201)
  return body.data
}

export const change = (id: string, body: unknown) => callRoute('update-webhook', { path: { id }, body })
export const remove = (id: string) => callRoute('delete-webhook', { path: { id } })
export const list = (query: Record<string, string> = {}) => callRoute('list-webhooks', { query })
export const rotate = (id: string, more: SentRequest = {}) =>
  callRoute('rotate-webhook-secret', { path: { id }, ...more })
export const ping = (id: string, more: SentRequest = {}) =>
  callRoute('ping-webhook', { path: { id }, ...more })
export const deliveries = (id: string, query: Record<string, string> = {}) =>
  callRoute('list-deliveries', { path: { id }, query })
export const redeliver = (id: string, delivery_id: string, more: SentRequest = {}) =>
  callRoute('redeliver', { path: { id, delivery_id }, ...more })

export const storedWebhook = async (id: string): Promise<Webhook> => {
  const webhook = await webhookStore(db).find(clinic.id, id)
  if (!webhook) throw new Error('no such webhook')
  return webhook
}

export const advanceTime = (ms: number) => vi.useFakeTimers({ now: Date.now() + ms, toFake: ['Date'] })
export const withKey = (key: string) => ({ headers: { 'idempotency-key': key } })

/** All items as text, except the use of credentials, which each request records. */
export async function items(): Promise<string[]> {
  return (await allItems(db)).filter(({ pk }) => !pk.startsWith(USAGE_PARTITION_PREFIX)).map(sortedJson)
}

/** Runs `act`, and expects that it changes neither the table nor the queues. */
export async function expectUnchanged<T>(act: () => Promise<T>): Promise<T> {
  const before = await items()
  const pushes = sqs.calls().length
  const result = await act()
  const after = await items()
  const [known, left] = [new Set(before), new Set(after)]
  const changed = {
    gone: before.filter((item) => !left.has(item)),
    made: after.filter((item) => !known.has(item)),
  }
  expect(changed).toEqual({ gone: [], made: [] })
  expect(sqs.calls().length).toBe(pushes)
  return result
}

/** The deliveries that were pushed, with their queues. */
export const pushed = () =>
  sqs.commandCalls(SendMessageBatchCommand).flatMap(({ args }) => {
    const { QueueUrl, Entries = [] } = args[0].input
    return Entries.map(({ MessageBody = '', DelaySeconds }) => ({
      queue: QueueUrl,
      delay: DelaySeconds,
      ...readQueuedDelivery(MessageBody),
    }))
  })

export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+03:00$/
export const UUID = /^[0-9a-f-]{36}$/
export const error = (status: number, code: string, key: string) => ({
  status,
  body: { error: code, message: `errors.developer_api.${key}` },
})
export const NO_WEBHOOK = error(404, 'NOT_FOUND', 'webhook_not_found')
export const NO_DELIVERY = error(404, 'NOT_FOUND', 'delivery_not_found')
export const TOO_MANY = error(422, 'VALIDATION', 'too_many_webhooks')

/** Delivers the last pushed delivery, as the consumer does, to an endpoint that responds with `status`. */
export async function deliverLastPush(status: number, at = Date.now()) {
  const world = deliverySimulation(db.table, () => httpResponse(status, null, 12))
  world.now = at
  const last = pushed().at(-1)
  if (!last) throw new Error('nothing was pushed')
  const { clinic, webhook, delivery } = last
  await deliverEvent(world.dependencies, { clinic, webhook, delivery }, 'quick')
  return world.received
}
