/** A copy of a request that reads what the first one wrote, although it looked for the first response before that. */
import { createHash } from 'node:crypto'
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, expect, it } from 'vitest'
import { acceptsIdempotencyKey, acceptsIfMatch, type Route, retrievesRecord } from '../../shared/api/route.ts'
import { ENDPOINTS, type Endpoint } from '../../shared/api/routes.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { MAX_PREVIOUS_SECRETS, MAX_WEBHOOKS } from '../../shared/domain/webhooks/webhook.ts'
import { storedResponseKey } from '../../shared/store/keys/idempotency.ts'
import { issueCredential } from '../support/credentials.ts'
import { createWebhook } from '../support/deliveries.ts'
import { request } from '../support/functions.ts'
import { realisticTableOfFunctions } from '../support/realistic-table.ts'
import {
  bodyOf,
  createRouteSamples,
  newInvoice,
  pathOf,
  type RouteSamples,
  requestOf,
} from '../support/route-samples.ts'
import { newClinic } from '../support/table.ts'

const { db, dynamodb } = realisticTableOfFunctions()
let records: RouteSamples
let credential: Awaited<ReturnType<typeof issueCredential>>

beforeAll(async () => {
  records = await createRouteSamples(db.table, { clinic: await newClinic(db.table, { emailsPerDay: 1 }) })
  credential = await issueCredential(db.table, records.clinic)
})

/** Writes that their own first copy rejects. The others are sent with the etag that the first copy replaces, or are repeatable. */
const REJECTED: Partial<Record<Endpoint['id'], () => Promise<object>>> = {
  'create-patient': async () => ({ external_id: 'p1' }),
  'create-appointment': async () => ({ external_id: 'a1' }),
  'create-invoice': async () => ({ invoice_number: 'R1' }),
  'create-room': async () => ({ external_id: 'r1' }),
  'create-treatment': async () => ({ code: 'C1' }),
  'create-payment': async () => ({ amount: 100 }),
  'create-webhook': async () => {
    for (let n = 2; n < MAX_WEBHOOKS; n++) await createWebhook(db.table, records.clinic.id)
    return {}
  },
  'rotate-webhook-secret': async () => {
    const path = { id: records.webhook.id }
    for (let n = 1; n < MAX_PREVIOUS_SECRETS; n++)
      await request('rotate-webhook-secret', { path, headers: credential.headers })
    return {}
  },
}

/** The etag with which GET returns the record that a request changes. */
async function tagOf(route: Route, path: Record<string, string>): Promise<string> {
  const one = route.path.replace(/\{id\}.*/, '{id}')
  const read = ENDPOINTS.find((other) => retrievesRecord(other) && other.path === one) as Route
  return String((await request(read.id, { path, headers: credential.headers })).headers.etag)
}

async function sampleOf(route: Route) {
  const ids = await records.idsFor(route)
  const body = { ...bodyOf(route, ids), ...(await REJECTED[route.id as Endpoint['id']]?.()) }
  const path = pathOf(route, ids)
  const tag = acceptsIfMatch(route) ? { 'if-match': await tagOf(route, path) } : {}
  return { ...requestOf(route, ids), path, body, headers: { ...credential.headers, ...tag } }
}

async function refundOfAll() {
  const { id } = await newInvoice(db.table, records)
  const body = { invoice_id: id, amount: 100, payment_method: 'card' }
  await request('create-payment', { headers: credential.headers, body })
  return { method: 'POST', headers: credential.headers, body: { ...body, type: 'refund' } }
}

const WRITES = ENDPOINTS.filter(acceptsIdempotencyKey).map((route) => [route.id, '', () => sampleOf(route)])
const CASES = [...WRITES, ['create-payment', ' for a refund of all', refundOfAll]] as [
  string,
  string,
  () => ReturnType<typeof sampleOf>,
][]

it.each(CASES)(
  'returns the first response of %s%s to a copy that ran at the same time',
  async (id, _, sample) => {
    const sent = await sample()
    const idempotencyKey = newUuid()
    const headers = { ...sent.headers, 'idempotency-key': idempotencyKey }
    const first = await request(id, { ...sent, headers })
    expect([first.status, first.headers['idempotent-replayed']]).toEqual([
      expect.toBeOneOf([200, 201, 202]),
      undefined,
    ])

    // The copy looks for the response of the first before there is one, and reads everything else afterwards.
    const hash = createHash('sha256').update(idempotencyKey).digest('base64url')
    const key = storedResponseKey(records.clinic.id, credential.key, id, hash)
    const stored = await db.table.get(key)
    await db.client.send(new DeleteCommand({ TableName: db.name, Key: key }))
    const look = dynamodb.faults.next({
      ...{ kind: 'held', point: 'after-commit', operation: 'GetItem', keyPrefix: `${key.pk}|${key.sk}` },
    })
    const copy = request(id, { ...sent, headers })
    await look.reached
    await db.client.send(new PutCommand({ TableName: db.name, Item: stored }))
    look.release()
    const { status, body, headers: received } = await copy
    expect([status, body, received['idempotent-replayed']]).toEqual([first.status, first.body, 'true'])
  },
)
