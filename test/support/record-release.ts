/**
 * `npm run record-release` records what this release stores and answers, for the tests of later ones: the stack with the demo clinics, whose
 * people are invented. The file is committed with the release; of earlier ones, the two oldest stay.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { loadDemo } from '../../bin/demo/demo.ts'
import type { ReadyClinic } from '../../bin/demo/load.ts'
import { onTable } from '../../bin/local/clinics.ts'
import { startLocalStack } from '../../infra/local/stack.ts'
import { ENDPOINTS } from '../../shared/api/routes.ts'
import { EVENTS } from '../../shared/domain/webhooks/event.ts'
import { documentClient } from '../../shared/runtime/document-client.ts'
import { VISIBILITY_DELAY_MS } from '../../shared/store/table/visibility-delay.ts'
import type { Item } from '../../shared/store/table/write-requests.ts'
import { runTool } from './operator-tool.ts'
import { type ReleaseFixture, writeRelease } from './release-fixture.ts'

const NAMES =
  "Seán O'Brien, Maria D'Angelo, आशा शर्मा, 민수 김, Anna Smith-Jones, Þóra Guðmundsdóttir, Łukasz Żółć"
const SEARCHES = [
  "o'brien",
  "d'angelo",
  'शर्मा',
  '민수',
  '김민수',
  'smith-jones',
  'guðmunds',
  'łukasz',
  'grade',
]
/** Records of each list that are read alone. */
const MAX_SINGLE = 10

const receiver = createServer((request, response) => {
  response.writeHead(request.url === '/bad' ? 500 : 204).end()
}).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const address = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
let clinics: ReadyClinic[] = []
const stack = await startLocalStack({
  port: 0,
  allowedWebhookHost: address,
  seed: async (started) => {
    clinics = await onTable(started, loadDemo)
    return {}
  },
})
const [clinic, other] = clinics as [ReadyClinic, ReadyClinic]
const credential = clinic.credentials.full

/** @throws Error for an error response */
async function send(path: string, body?: object, { key = '', pair = credential } = {}) {
  const response = await fetch(`${stack.baseUrl}/api/developer/v1${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Developer ${pair}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(key && { 'idempotency-key': key }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answers ${response.status}: ${text}`)
  return { status: response.status, text, ...JSON.parse(text) }
}

const tool = async (...args: string[]) =>
  JSON.parse((await runTool(['--json', ...args], { PORT: new URL(stack.baseUrl).port })).printed).data
const { key, secret } = await tool(
  ...['credential', 'create', '--clinic', clinic.id, '--name', 'Rotated', '--scopes', 'patient.read'],
)
const rotated = [`${key}:${secret}`, `${key}:${(await tool('credential', 'rotate', key)).secret}`]
const webhooks: string[] = []
for (const path of ['good', 'bad'])
  webhooks.push((await send('/webhooks', { url: `http://${address}/${path}`, events: EVENTS })).data.id)

const repeated: ReleaseFixture['repeated'][number][] = []
for (let n = 0; n < 20; n++) {
  const body = { first_name: `Up${n}`, last_name: 'Grade', phone_number: `+4915112345${100 + n}` }
  const { status, text } = await send('/patients', body, { key: `k${n}` })
  repeated.push({ key: `k${n}`, body, status, text })
}
for (const [first_name, last_name] of NAMES.split(', ').map((name) => name.split(' ')))
  await send('/patients', { first_name, last_name })
const [one, two] = (await send('/appointments?status=scheduled&order=desc')).data
await send(`/appointments/${one.id}/confirm`, {})
await send(`/appointments/${two.id}/cancel`, { reason: 'recorded' })
const invoice_id = (await send('/invoices?status=sent')).data[0].id
await send('/payments', { invoice_id, amount: 1, payment_method: 'cash' })
const patient_id = (await send('/patients?search=grade')).data[0].id
await send('/messages', { patient_id, channel: 'sms', message: 'Recorded' })
const deliveriesOf = async (id = '') => (await send(`/webhooks/${id}/deliveries?limit=100`)).data as Item[]
while ((await deliveriesOf(webhooks[0])).some(({ status }) => status !== 'delivered')) await sleep(500)
await sleep(VISIBILITY_DELAY_MS)

const responses: Record<string, object> = {}
async function read(path: string) {
  const { data, meta } = await send(path)
  // Of an endpoint: deliveries that are due later change it.
  delete data.health
  responses[path] = { data, ...(meta?.total !== undefined && { meta: { total: meta.total } }) }
  return { data, next: meta?.next_after }
}
for (const { path, method, query, params } of ENDPOINTS) {
  const names = Object.keys(query?.shape ?? {})
  if (method !== 'GET' || params || !names.includes('limit') || path === '/availability') continue
  const { data } = await read(`${path}?limit=100${names.includes('page') ? '&page=1' : ''}`)
  const updated = names.includes('updated_since')
    ? [`${path}?limit=3&updated_since=2020-01-01T00:00:00Z`]
    : []
  for (const start of [`${path}?limit=3`, ...updated]) {
    const { next } = await read(start)
    if (next) await read(`${start}&after=${next}`)
  }
  if (ENDPOINTS.some((route) => route.method === 'GET' && route.path === `${path}/{id}`))
    for (const { id } of data.slice(0, MAX_SINGLE)) await read(`${path}/${id}`)
}
for (const query of SEARCHES) await read(`/patients?search=${encodeURIComponent(query)}`)
for (const path of ['/clinic', '/me']) await read(path)
for (const webhook of webhooks) {
  const all = await deliveriesOf(webhook)
  const data = all.map(({ id, event_id, event, created_at }) => ({ id, event_id, event, created_at }))
  responses[`/webhooks/${webhook}/deliveries?limit=100`] = { data }
}

const client = documentClient({
  endpoint: stack.endpoints.dynamodb,
  region: 'us-east-1',
  credentials: { accessKeyId: 'demo', secretAccessKey: 'local' },
})
async function scan(): Promise<Item[]> {
  const items: Item[] = []
  for (let ExclusiveStartKey: Record<string, unknown> | undefined; ; ) {
    const page = await client.send(new ScanCommand({ TableName: stack.outputs.TableName, ExclusiveStartKey }))
    items.push(...((page.Items ?? []) as Item[]))
    ExclusiveStartKey = page.LastEvaluatedKey
    if (!ExclusiveStartKey) return items
  }
}
// An email of the other clinic, whose lists were not read, which waits while the table is.
const pair = other.credentials.full
const addressed = (await send('/patients?limit=100', undefined, { pair })).data.find(
  (patient: { email_address: string | null }) => patient.email_address,
)
let items: Item[] = []
while (!items.some(({ di, ch }) => di && ch === 'email')) {
  const email = { patient_id: addressed.id, channel: 'email', subject: 'Recorded', message: 'Recorded' }
  await send('/messages', email, { pair })
  items = await scan()
}
const recordedAt = Date.now()
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const found = {
  recordedAt,
  clinic: clinic.id,
  credential,
  rotated,
  address,
  webhooks,
  repeated,
  responses,
  items,
}
writeRelease(version, found)
client.destroy()
await stack.close()
receiver.close()
