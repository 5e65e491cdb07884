import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { beforeAll, describe, expect, it } from 'vitest'
import { BASE_PATH, scopesOf } from '../../../shared/api/route.ts'
import { ENDPOINTS } from '../../../shared/api/routes.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { SCOPES } from '../../../shared/domain/scope.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import { issueCredential } from '../../support/credentials.ts'
import { assertConforms } from '../../support/document-conformance.ts'
import { call } from '../../support/event.ts'
import { handlerOf, request, tableOfFunctions } from '../../support/functions.ts'
import { mockClient } from '../../support/mock-client.ts'
import {
  createRouteSamples,
  idsOf,
  pathOf,
  type RouteSamples,
  requestOf,
  type SampleIds,
  unknownIds,
} from '../../support/route-samples.ts'

const db = tableOfFunctions()
let mine: Awaited<ReturnType<typeof issueCredential>>
let own: SampleIds
let foreign: SampleIds
const unknown = unknownIds()
mockClient(SQSClient).on(SendMessageCommand).resolves({}).on(SendMessageBatchCommand).resolves({})

beforeAll(async () => {
  const samples = await createRouteSamples(db.table)
  mine = await issueCredential(db.table, samples.clinic)
  own = samples.ids
  foreign = (await createRouteSamples(db.table)).ids
})

const NAMED = ENDPOINTS.map((route) => [`${route.method} ${route.path}`, route] as const)

describe('every route', () => {
  let samples: RouteSamples
  let headers: Record<string, string>
  beforeAll(async () => {
    samples = await createRouteSamples(db.table)
    headers = (await issueCredential(db.table, samples.clinic)).headers
  })

  it.each(NAMED)('%s returns its documented success, a list its records', async (_, route) => {
    const sent = requestOf(route, await samples.idsFor(route))
    const response = await request(route.id, { ...sent, headers: { ...sent.headers, ...headers } })
    const target = route.path.replace(/\{(\w+)\}/g, (_, name: string) => sent.path[name] ?? '')
    expect(response.status).toBe(route.response.status)
    const received = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
    )
    assertConforms(route.method, `${BASE_PATH}${target}`, response.status, received, response.body)
    if (Array.isArray(response.body?.data)) expect(response.body.data.length).toBeGreaterThan(0)
  })
})

describe.each(NAMED)('%s', (_, route) => {
  const UNAUTHORIZED = { error: 'UNAUTHORIZED', message: 'errors.developer_api.unauthorized' }

  it('returns 401 without a credential', async () => {
    const response = await request(route.id, { path: pathOf(route, unknown) })
    expect(response).toMatchObject({
      status: 401,
      body: UNAUTHORIZED,
      headers: { 'www-authenticate': 'Developer', 'x-request-id': 'request-1' },
    })
  })

  it('returns the same 401 for an unknown key, a wrong secret, a revoked and an expired credential', async () => {
    const handler = await handlerOf(route)
    const revoked = await issueCredential(db.table, mine.clinic as Clinic)
    await credentialStore({ table: db.table, now: Date.now }).revoke(revoked.key)
    const expired = await issueCredential(db.table, mine.clinic as Clinic, SCOPES, '2026-01-01T00:00:00Z')
    const rejected = [`Developer ck_unknown:${mine.secret}`, `Developer ${mine.key}:wrong`, 'Bearer x']
    const sentHeaders = [
      ...rejected.map((Authorization) => ({ Authorization })),
      revoked.headers,
      expired.headers,
    ]
    for (const sent of sentHeaders) {
      const response = await call(handler, {
        method: route.method,
        path: pathOf(route, unknown),
        headers: sent,
      })
      expect([response.status, response.text]).toEqual([401, JSON.stringify(UNAUTHORIZED)])
    }
  })

  it('returns 400 naming an unknown query parameter', async () => {
    const response = await request(route.id, {
      path: pathOf(route, unknown),
      query: { nonsense: '1' },
      headers: mine.headers,
    })
    const nonsense = { field: 'nonsense', issue: 'is not a parameter of this endpoint' }
    expect([response.status, response.body.details]).toEqual([400, expect.arrayContaining([nonsense])])
  })
})

const WITH_SCOPE = ENDPOINTS.filter((route) => route.scope !== null)
const WITHOUT_SCOPE = ENDPOINTS.filter((route) => route.scope === null)

describe.each(WITH_SCOPE.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_, route) => {
    it('returns 403 naming the scope when the credential has every other scope', async () => {
      const others = SCOPES.filter((scope) => !scopesOf(route).includes(scope))
      const { headers } = await issueCredential(db.table, mine.clinic as Clinic, others)
      // The request is invalid in other ways too: the scope is checked first.
      const response = await request(route.id, {
        path: pathOf(
          route,
          idsOf(() => 'none'),
        ),
        query: { nonsense: '1' },
        headers,
      })
      expect(response.status).toBe(403)
      expect(response.body).toEqual({
        error: 'FORBIDDEN',
        message: 'errors.developer_api.missing_scope',
        details: scopesOf(route).map((scope) => ({ scope })),
      })
    })
  },
)

describe.each(WITHOUT_SCOPE.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_, route) => {
    it('succeeds for a credential without scopes', async () => {
      const { headers } = await issueCredential(db.table, mine.clinic as Clinic, [])
      expect((await request(route.id, { headers })).status).toBe(200)
    })
  },
)

const WITH_IDS = ENDPOINTS.filter((route) => route.params)

describe.each(WITH_IDS.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_, route) => {
    it("returns the same 404 for another clinic's id, an unknown id and a malformed id", async () => {
      const handler = await handlerOf(route)
      const params = Object.entries(route.params ?? {})
      for (const [name, notFound] of params) {
        const theirs = foreign[notFound]
        const responses = []
        for (const id of [theirs, theirs.toUpperCase(), unknown[notFound], 'no-uuid', '../x', '']) {
          // One id at a time is wrong; the others are our own.
          const path = { ...pathOf(route, own), [name]: id }
          const sent = requestOf(route, own)
          const headers = { ...sent.headers, ...mine.headers }
          const { status, text } = await call(handler, { ...sent, path, headers })
          responses.push([status, text])
        }
        const expected = [404, `{"error":"NOT_FOUND","message":"errors.developer_api.${notFound}"}`]
        expect(responses).toEqual(responses.map(() => expected))
      }
    })

    it("returns the 404 of the first id when all ids are another clinic's", async () => {
      const sent = requestOf(route, foreign)
      const headers = { ...sent.headers, ...mine.headers }
      const response = await request(route.id, { ...sent, headers })
      const [notFound] = Object.values(route.params ?? {})
      expect(response).toMatchObject({
        status: 404,
        body: { error: 'NOT_FOUND', message: `errors.developer_api.${notFound}` },
      })
    })
  },
)
