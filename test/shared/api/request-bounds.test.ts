/** The bounds of a request, and of the size of an error response. */
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type * as z from 'zod'
import type { Route } from '../../../shared/api/route.ts'
import { ENDPOINTS } from '../../../shared/api/routes.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { issueCredential } from '../../support/credentials.ts'
import { createWebhook } from '../../support/deliveries.ts'
import { request, stubFunctionEnvironment } from '../../support/functions.ts'
import { mockClient } from '../../support/mock-client.ts'
import { property } from '../../support/scale.ts'
import { freshTable, newClinic } from '../../support/table.ts'

const MAX_ERROR_BYTES = 64 * 1024
const MAX_BODY_BYTES = 256 * 1024

const WITH_BODY = ENDPOINTS.filter((route): route is (typeof ENDPOINTS)[number] & { body: z.ZodObject } =>
  Boolean((route as Route).body),
)

describe('an error response', () => {
  let headers: Record<string, string>
  let webhook: string

  mockClient(SNSClient).on(PublishCommand).resolves({ MessageId: 'm' })
  mockClient(SQSClient).on(SendMessageCommand).resolves({}).on(SendMessageBatchCommand).resolves({})

  beforeAll(async () => {
    const db = await freshTable()
    stubFunctionEnvironment(db.name)
    const clinic = await newClinic(db.table)
    headers = (await issueCredential(db.table, clinic)).headers
    webhook = (await createWebhook(db.table, clinic.id)).id
  })

  const ask = async (route: Route, text: string, query?: Record<string, string | string[]>) =>
    request(route.id, {
      headers,
      path: Object.fromEntries(
        Object.entries(route.params ?? {}).map(([name, key]) => [
          name,
          key === 'webhook_not_found' ? webhook : newUuid(),
        ]),
      ),
      ...(query && { query }),
      body: text,
    })

  const [create] = WITH_BODY.filter(({ id }) => id === 'create-webhook')

  it('lists the first 20 invalid fields and the number of the others', async () => {
    const fields = Array.from({ length: 1000 }, (_, at) => `field_${at}`)
    const body = JSON.stringify(Object.fromEntries(fields.map((name) => [name, 1])))
    const { status, body: answer } = await ask(create as Route, body)
    expect(status).toBe(422)
    expect(answer.details.map(({ field }: { field: string }) => field)).toEqual(fields.slice(0, 20))
    // The 980 others, and the two required fields.
    expect(answer.details_omitted).toBe(982)
  })

  it('does not count when all invalid fields are listed', async () => {
    const fields = Array.from({ length: 18 }, (_, at) => `field_${at}`)
    const { body } = await ask(
      create as Route,
      JSON.stringify(Object.fromEntries(fields.map((name) => [name, 1]))),
    )
    expect(body.details.length).toBe(20)
    expect(body).not.toHaveProperty('details_omitted')
  })

  it('shortens the names of unknown fields', async () => {
    const { body } = await ask(create as Route, JSON.stringify({ ['é'.repeat(100_000)]: 1 }))
    expect(body.details[0]).toEqual({
      field: `${'é'.repeat(99)}…`,
      issue: 'is not a field of this request',
    })
  })

  it.each<[string, unknown]>([
    ['unknown events', Array(20_000).fill('x')],
    ['known events', Array(12_000).fill('patient.created')],
    ['numbers', Array(100_000).fill(1)],
    ['lists in lists', Array(40_000).fill([[]])],
  ])('names a list of too many %s once', async (_, events) => {
    const text = JSON.stringify({ url: 'https://example.com/', events })
    const { status, body } = await ask(create as Route, text)
    expect([status, body.details]).toEqual([
      422,
      [{ field: 'events', issue: expect.stringMatching(/at most/) }],
    ])
  })

  it('has at most 64 KB for the longest lists, names, texts and nesting in any request', async () => {
    const pieces = ['x', '\u0000', '\ud800', '😀', '"', 'patient.created', '\\', '\u202e', '__proto__', '٣']
    const piece = fc.constantFrom(...pieces)
    const long = fc
      .tuple(piece, fc.constantFrom(1, 50, 5000, 60_000))
      .map(([text, count]) => text.repeat(count))
    const manyFields = fc
      .tuple(piece, fc.constantFrom(21, 500, 9000))
      .map(([text, count]) =>
        Object.fromEntries(Array.from({ length: count }, (_, at) => [`${text}${at}`, at])),
      )
    const list = fc
      .tuple(fc.oneof(piece, fc.constantFrom(null, 0, [], {})), fc.constantFrom(1, 21, 20_000, 60_000))
      .map(([item, count]) => Array(count).fill(item))
    const deep = fc
      .constantFrom('[', '{"a":')
      .map((open) =>
        JSON.parse(
          open === '[' ? '['.repeat(300) + ']'.repeat(300) : `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`,
        ),
      )
    const value = fc.oneof(long, manyFields, list, deep, fc.constantFrom(null, 1e308, -0, true, ''))
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...WITH_BODY),
        fc.array(value, { minLength: 8, maxLength: 8 }),
        fc.dictionary(long, value, { maxKeys: 3 }),
        manyFields,
        fc.boolean(),
        async (route, values, unknown, more, hasMore) => {
          const known = Object.keys(route.body.shape).map((name, at) => [name, values[at % 8]])
          const text = JSON.stringify({
            ...Object.fromEntries(known),
            ...unknown,
            ...(hasMore && more),
          }).slice(0, MAX_BODY_BYTES + 1)
          const { status, text: answer, body } = await ask(route, text)
          expect([200, 201, 202, 400, 404, 413, 422]).toContain(status)
          expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(MAX_ERROR_BYTES)
          expect(body?.details?.length ?? 0).toBeLessThanOrEqual(20)
        },
      ),
      property(50, 5000),
    )
  })

  it('has at most 64 KB for thousands of unknown or repeated parameters', async () => {
    for (const route of ENDPOINTS as readonly Route[]) {
      const unknown = Object.fromEntries(
        Array.from({ length: 2000 }, (_, at) => [`${'\u0000'.repeat(200)}${at}`, '1']),
      )
      const { status, text, body } = await ask(route, '', { ...unknown, page: Array(5000).fill('1') })
      expect([route.id, status]).toEqual([route.id, 400])
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_ERROR_BYTES)
      expect([body.details.length, body.details_omitted]).toEqual([20, expect.any(Number)])
    }
  })
})
