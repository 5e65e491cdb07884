/** Endpoints that return one record, or facts about the caller, against the real engine. */
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Route } from '../../shared/api/route.ts'
import { ENDPOINTS } from '../../shared/api/routes.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { CREDENTIAL_PARTITION_PREFIX, USAGE_PARTITION_PREFIX } from '../../shared/store/keys/clinics.ts'
import { issueCredential } from '../support/credentials.ts'
import type { RequestInput } from '../support/event.ts'
import { request, tableOfFunctions } from '../support/functions.ts'
import { createRouteSamples, pathOf, type RouteSamples } from '../support/route-samples.ts'

const db = tableOfFunctions()
let records: RouteSamples
let credential: Awaited<ReturnType<typeof issueCredential>>

beforeAll(async () => {
  records = await createRouteSamples(db.table)
  credential = await issueCredential(db.table, records.clinic)
})

const ask = async (id: string, input: RequestInput = {}) =>
  request(id, { headers: credential.headers, ...input })

const OF_CREDENTIAL = new RegExp(`"(${CREDENTIAL_PARTITION_PREFIX}|${USAGE_PARTITION_PREFIX})`)

/** The table calls of a request besides those on its credential. */
async function tableCalls(act: () => Promise<unknown>): Promise<string[]> {
  const send = vi.spyOn(DynamoDBDocumentClient.prototype, 'send')
  await act()
  const commands = send.mock.calls.map(([command]) => command)
  send.mockRestore()
  return commands
    .filter(({ input }) => !OF_CREDENTIAL.test(JSON.stringify(input)))
    .map((command) => command.constructor.name)
}

/** Fields that rows of lists lack, and the reads that some of them take. */
const FURTHER: Readonly<Record<string, { readonly fields: string[]; readonly reads?: string[] }>> = {
  'get-patient': { fields: ['national_id', 'notes'] },
  'get-payment': { fields: ['void_reason'] },
  'get-invoice': { fields: ['payments'], reads: ['QueryCommand'] },
  'get-webhook': { fields: ['health'], reads: ['GetCommand', 'QueryCommand'] },
}

const READS: readonly Route[] = ENDPOINTS.filter(({ method }) => method === 'GET')
const LISTED = READS.flatMap((list) =>
  READS.filter(({ path }) => path === `${list.path}/{id}`).map(
    (one) => [one.id, list.id, one, list] as const,
  ),
)

it.each(LISTED)(
  '%s returns what %s lists, for the same scope, with one read',
  async (id, listId, one, list) => {
    expect(one.scope).toBe(list.scope)
    const { fields = [], reads = [] } = FURTHER[id] ?? {}
    const path = pathOf(one, records.ids)
    const calls = await tableCalls(async () => {
      const { status, body } = await ask(id, { path })
      const { data } = (await ask(listId)).body
      const listed = data.find((row: { id: string }) => row.id === path.id)
      const more = Object.keys(body.data).filter((name) => !(name in listed))
      expect([status, body.data, more]).toEqual([200, expect.objectContaining(listed), fields])
    })
    expect(calls[0]).toBe('GetCommand')
    expect(await tableCalls(() => ask(id, { path }))).toEqual(['GetCommand', ...reads])
  },
)

it('GET /invoices/{id}/payments returns what GET /payments returns for the invoice, with the same filters', async () => {
  const { invoice } = records
  const filters: Record<string, string>[] = [
    {},
    { status: 'completed' },
    { status: 'failed' },
    { from: '2026-05-05' },
  ]
  for (const query of filters) {
    const own = await ask('list-invoice-payments', { path: { id: invoice.id }, query })
    const filtered = await ask('list-payments', { query: { ...query, invoice_id: invoice.id } })
    const { next_after: _, ...meta } = filtered.body.meta
    expect([own.status, own.body]).toEqual([200, { data: filtered.body.data, meta }])
  }
  const { body } = await ask('list-invoice-payments', { path: { id: invoice.id } })
  expect(body).toMatchObject({ data: [{ id: records.payment.id }], meta: { total: 1 } })
})

describe('GET /me', () => {
  it('returns the credential with its clinic and the rate of the stage, and reads nothing else', async () => {
    const { key, scopes } = credential
    const { id, name, timezone } = records.clinic
    const calls = await tableCalls(async () => {
      const { body } = await ask('get-me')
      const shown = { key, name: 'test', scopes, expires_at: null, rate_limit: 100_000 }
      expect(body).toEqual({ data: { ...shown, clinic: { id, name, timezone, is_test: false } } })
    })
    expect(calls).toEqual([])
  })

  it("returns the credential's own rate, and its expiry in the clinic's time zone", async () => {
    const { key, secret } = await credentialStore({ table: db.table, now: Date.now }).issue({
      name: 'Site',
      clinic: records.clinic.id,
      cell: 'a',
      scopes: [],
      expiresAt: '2099-12-31T22:00:00Z',
      requestsPerMinute: 60,
    })
    const { body } = await ask('get-me', { headers: { Authorization: `Developer ${key}:${secret}` } })
    expect(body.data).toMatchObject({
      key,
      name: 'Site',
      scopes: [],
      rate_limit: 60,
      expires_at: '2100-01-01T01:00:00+03:00',
    })
  })
})

it('GET /health returns ok and the version of the time zones, and reads nothing but the credential', async () => {
  const calls = await tableCalls(async () => {
    const { status, body } = await ask('get-health')
    expect([status, body]).toEqual([200, { status: 'ok', tzdata: expect.stringMatching(/^20\d\d[a-z]$/) }])
  })
  expect(calls).toEqual([])
})

describe('GET /clinic', () => {
  it('returns the settings of the clinic, null for those it does not have, with one read', async () => {
    const { id, name, timezone, currency } = records.clinic
    const facts = { id, name, timezone, currency, appointment_duration: 30 }
    const none = { address: null, phone_number: null, email_address: null, website: null }
    const calls = await tableCalls(async () => {
      const { body } = await ask('get-clinic')
      expect(body).toEqual({
        data: { ...facts, ...none, is_test: false, created_at: '2026-05-01T10:00:00+03:00' },
      })
    })
    expect(calls).toEqual(['GetCommand'])
  })

  it('returns its address, contacts and website once the operator has set them, and no other setting', async () => {
    const contact = {
      address: 'Moda Caddesi 112, İstanbul',
      phoneNumber: '+902165550112',
      emailAddress: 'info@example.com',
      website: 'https://example.com/',
    }
    await clinicStore(db).update(records.clinic.id, { ...contact, smsPerDay: 5, replyTo: 'desk@example.com' })
    const { body, text } = await ask('get-clinic')
    expect(body.data).toMatchObject({
      address: contact.address,
      phone_number: contact.phoneNumber,
      email_address: contact.emailAddress,
      website: contact.website,
    })
    expect(text).not.toMatch(/desk@|recipient|secret|sms/i)
  })
})
