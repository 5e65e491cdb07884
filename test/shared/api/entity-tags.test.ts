/** The `etag` of records, and what `if-none-match` and `if-match` make of it. */
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type * as z from 'zod'
import { acceptsIfMatch, hasEtag, type Route, retrievesRecord, scopesOf } from '../../../shared/api/route.ts'
import { ENDPOINTS, type Endpoint } from '../../../shared/api/routes.ts'
import { SCOPES, type Scope } from '../../../shared/domain/scope.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { unwrapped } from '../../../shared/openapi/schemas.ts'
import { patientChanges } from '../../../shared/store/copies/patient-changes.ts'
import { issueCredential } from '../../support/credentials.ts'
import { request, tableOfFunctions } from '../../support/functions.ts'
import {
  bodyOf,
  createRouteSamples,
  idsOf,
  newHold,
  pathOf,
  type RouteSamples,
  unknownIds,
} from '../../support/route-samples.ts'

const db = tableOfFunctions()
let records: RouteSamples
let headers: Record<string, string>

beforeAll(async () => {
  records = await createRouteSamples(db.table)
  headers = (await issueCredential(db.table, records.clinic)).headers
  records = { ...records, ids: { ...records.ids, ...(await newHold(db.table, records)) } }
})

async function ask(route: Route, ifNoneMatch?: string | string[]) {
  const path = pathOf(route, records.ids)
  const sent = { ...headers, ...(ifNoneMatch !== undefined && { 'If-None-Match': ifNoneMatch }) }
  return request(route.id, { path, headers: sent })
}

const named = (routes: readonly Route[]) => routes.map((route) => [route.id, route] as const)

describe.each(named(ENDPOINTS.filter(retrievesRecord)))('%s', (_, route) => {
  it('returns a strong etag, and a 304 without a body to a request that has it', async () => {
    const first = await ask(route)
    expect([first.status, first.headers.etag]).toEqual([200, expect.stringMatching(/^"[\w-]{43}"$/)])
    const etag = String(first.headers.etag)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, ['"other"', etag], '*']) {
      const { status, text, headers } = await ask(route, known)
      expect([known, status, text]).toEqual([known, 304, ''])
      expect(headers).toMatchObject({ etag, 'cache-control': 'no-store', 'x-request-id': 'request-1' })
      expect(headers).not.toHaveProperty('content-type')
    }
    for (const other of ['"other"', etag.slice(1, -1), '']) {
      const { status, text } = await ask(route, other)
      expect([other, status, text]).toEqual([other, 200, first.text])
    }
  })

  it('writes the records of a 304 into the access trail', async () => {
    const [full, unchanged] = [await ask(route), await ask(route, '*')]
    expect(unchanged.accesses).toEqual([{ ...full.accesses[0], outcome: 304, timestamp: expect.any(String) }])
  })
})

it('a record that was changed has another etag', async () => {
  const route = ENDPOINTS.find(({ id }) => id === 'get-patient') as Route
  const before = await ask(route)
  await patientChanges(db.table).update(records.clinic.id, records.patient.id, { lastName: 'Changed' })
  const after = await ask(route, String(before.headers.etag))
  expect([after.status, after.body.data.last_name]).toEqual([200, 'Changed'])
  expect(after.headers.etag).not.toBe(before.headers.etag)
})

it('an unknown record is a 404, whatever the request has in if-none-match', async () => {
  const route = ENDPOINTS.find(({ id }) => id === 'get-patient') as Route
  const input = { path: { id: records.invoice.id }, headers: { ...headers, 'if-none-match': '*' } }
  const { status, headers: sent } = await request(route.id, input)
  expect([status, sent.etag]).toEqual([404, undefined])
})

it('lists, free slots and the health of the API have none', () => {
  const without = ENDPOINTS.filter((route) => route.method === 'GET' && !retrievesRecord(route)).map(
    ({ id }) => id,
  )
  expect(without.filter((id) => !id.startsWith('list-'))).toEqual([
    'get-health',
    'get-schedule',
    'get-availability',
  ])
})

/** Sends a request that changes something. */
async function send(
  route: Route,
  body: object,
  more: Record<string, string | string[]> = {},
  ids = records.ids,
) {
  return request(route.id, { path: pathOf(route, ids), headers: { ...headers, ...more }, body })
}

/** The route that retrieves the records which another route changes or creates: of the same error for an unknown id. */
const retrievalOf = ({ path, response }: Route): Route => {
  const records = (response.location ?? path).replace(/\/\{id\}.*/, '')
  return ENDPOINTS.find((route) => retrievesRecord(route) && route.path === `${records}/{id}`) as Route
}

const schemaName = ({ response }: Route): unknown => {
  const { data } = (unwrapped(response.body) as Partial<z.ZodObject>).shape ?? {}
  return data && unwrapped(data as z.ZodType).meta()?.id
}

const RETURNS_RECORD = ENDPOINTS.filter((route) => route.method !== 'GET' && hasEtag(route))

describe.each(named(RETURNS_RECORD))('%s', (_, route) => {
  it('returns the etag with which GET returns the record', async () => {
    const ids = await records.idsFor(route)
    const changed = await send(route, bodyOf(route, ids), {}, ids)
    expect([changed.status, changed.headers.etag]).toEqual([
      route.response.status,
      expect.stringMatching(/^"[\w-]{43}"$/),
    ])
    const read = await request(retrievalOf(route).id, { path: { id: changed.body.data.id }, headers })
    expect([read.status, read.headers.etag]).toEqual([200, changed.headers.etag])
  })
})

const REFERRING = RETURNS_RECORD.flatMap((route) =>
  route.response.record?.reference ? [[route.id, route, route.response.record.reference] as const] : [],
)

describe.each(REFERRING)('%s without the scope that reads the record', (_, route, { schema }) => {
  it('returns a reference without an etag, also to a repetition', async () => {
    const ids = await records.idsFor(route)
    const writer = await issueCredential(db.table, records.clinic, scopesOf(route))
    const sent = { ...writer.headers, 'idempotency-key': newUuid() }
    const first = await send(route, bodyOf(route, ids, 1), sent, ids)
    expect([first.status, first.headers.etag]).toEqual([route.response.status, undefined])
    expect(schema.safeParse(first.body.data).error).toBeUndefined()
    expect(Object.keys(first.headers).includes('location')).toBe(route.response.location !== undefined)
    // The trail says what was changed.
    expect(first.accesses[0].records).toContain(first.body.data.id)
    const again = await send(route, bodyOf(route, ids, 1), sent, ids)
    expect([again.text, again.headers.etag]).toEqual([first.text, undefined])
  })
})

it('every change that returns what GET of the record returns declares so', () => {
  const retrieved = new Set(ENDPOINTS.filter(retrievesRecord).map(schemaName))
  const changes = ENDPOINTS.filter((route) => route.method !== 'GET' && retrieved.has(schemaName(route)))
  expect(changes.filter(({ response }) => !response.record).map(({ id }) => id)).toEqual([])
})

const CONDITIONAL = ENDPOINTS.filter(acceptsIfMatch)

/** Issues a credential that may call the route but not read its record. */
async function writerOf(route: Route) {
  const readScopes = scopesOf(retrievalOf(route))
  const others = SCOPES.filter((scope) => !readScopes.includes(scope))
  return { readScopes, headers: (await issueCredential(db.table, records.clinic, others)).headers }
}

describe.each(named(CONDITIONAL))('%s without the scope that reads the record', (_, route) => {
  it.each(['"a"', 'W/"a"', '"a", "b"', '*, "a"', 'a', ''])(
    'returns 403 naming the scope for if-match %j, whatever else is wrong',
    async (ifMatch) => {
      const { headers, readScopes } = await writerOf(route)
      const { status, body } = await request(route.id, {
        path: pathOf(
          route,
          idsOf(() => 'none'),
        ),
        query: { nonsense: '1' },
        headers: { ...headers, 'if-match': ifMatch },
        body: '{',
      })
      expect([status, body]).toEqual([
        403,
        {
          error: 'FORBIDDEN',
          message: 'errors.developer_api.missing_scope',
          details: readScopes.map((scope) => ({ scope })),
        },
      ])
    },
  )

  it('accepts if-match *, and returns no etag', async () => {
    const ids = await records.idsFor(route)
    const { headers } = await writerOf(route)
    const sent = { ...headers, 'if-match': ' * ' }
    expect((await send(route, bodyOf(route, ids), sent, unknownIds())).status).toBe(404)
    const changed = await send(route, bodyOf(route, ids), sent, ids)
    expect([changed.status, changed.headers.etag]).toEqual([route.response.status, undefined])
  })
})

it('names for each change with an etag or if-match the scope of the GET of its record', () => {
  for (const route of new Set([...RETURNS_RECORD, ...CONDITIONAL]))
    expect([route.id, route.readScope]).toEqual([route.id, ...scopesOf(retrievalOf(route))])
})

const [PATCHES = [], ACTIONS = []] = [true, false].map((isPatch) =>
  CONDITIONAL.filter((route) => (route.method === 'PATCH') === isPatch),
)

describe.each(named(ACTIONS))('%s with if-match', (_, route) => {
  it('changes the record only if it is in the state that the etag names, also when it is repeated', async () => {
    const ids = await records.idsFor(route)
    const body = bodyOf(route, ids)
    const read = () => request(retrievalOf(route).id, { path: pathOf(route, ids), headers })
    const before = await read()
    const conditional = { 'if-match': String(before.headers.etag) }
    expect((await send(route, body, { 'if-match': '"other"' }, ids)).status).toBe(412)
    expect((await read()).text).toBe(before.text)
    expect((await send(route, body, conditional, ids)).status).toBe(route.response.status)
    expect((await read()).text).not.toBe(before.text)
    expect((await send(route, body, conditional, ids)).status).toBe(route.response.status === 204 ? 404 : 412)
    expect((await send(route, body, { 'if-match': '*' }, unknownIds())).status).toBe(404)
  })
})

describe('a change that the response does not show', () => {
  afterEach(() => void vi.useRealTimers())

  it.each<[Endpoint['id'], object, Scope[]]>([
    ['update-patient', { notes: 'Late' }, ['patient.read', 'patient.write']],
    ['update-patient', { national_id: 'A-1' }, ['patient.read', 'patient.write']],
    ['update-webhook', { secret: 'x'.repeat(32) }, ['webhook.read', 'webhook.write']],
  ])('changes the etag, also within a second: %s with %j', async (id, body, scopes) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const route = ENDPOINTS.find((one) => one.id === id) as Route
    const caller = (await issueCredential(db.table, records.clinic, scopes)).headers
    await send(route, bodyOf(route, records.ids, 0), caller)
    const { etag } = (await send(route, bodyOf(route, records.ids, 1), caller)).headers
    const conditional = { ...caller, 'if-match': String(etag) }
    const first = await send(route, body, conditional)
    expect([first.status, first.headers.etag]).toEqual([200, expect.not.stringMatching(String(etag))])
    expect((await send(route, bodyOf(route, records.ids, 0), conditional)).status).toBe(412)
    for (const n of [0, 1]) await send(route, bodyOf(route, records.ids, n), caller)
    expect((await send(route, bodyOf(route, records.ids, 0), conditional)).status).toBe(412)
  })
})

it.each(named(ENDPOINTS.filter((route) => route.method !== 'GET' && !acceptsIfMatch(route))))(
  '%s returns 400 for if-match, which it could not hold',
  async (_, route) => {
    const ids = await records.idsFor(route)
    const { status, body } = await send(route, bodyOf(route, ids), { 'if-match': '*' }, ids)
    expect([status, body]).toEqual([
      400,
      {
        error: 'INVALID_PARAMS',
        message: 'errors.developer_api.invalid_params',
        details: [{ field: 'if-match', issue: 'is not supported by this endpoint' }],
      },
    ])
  },
)

describe.each(named(PATCHES))('%s with if-match', (_, route) => {
  let one: object
  let other: object
  beforeAll(() => {
    one = bodyOf(route, records.ids, 0)
    other = bodyOf(route, records.ids, 1)
  })
  const current = async () => String((await ask(retrievalOf(route))).headers.etag)
  const etagAfter = async (body: object) => String((await send(route, body)).headers.etag)

  it('changes the record only if it is in the state that the etag names', async () => {
    const [before, now] = [await etagAfter(one), await etagAfter(other)]
    expect(now).not.toBe(before)
    for (const stale of [before, `W/${now}`, `"other", ${before}`, [before, '"a,b"'], '"*"']) {
      const { status, body, headers } = await send(route, one, { 'If-Match': stale })
      expect([stale, status, body, headers.etag]).toEqual([
        stale,
        412,
        { error: 'PRECONDITION_FAILED', message: 'errors.developer_api.precondition_failed' },
        undefined,
      ])
    }
    expect(await current()).toBe(now)
    for (const [fresh, change] of [
      [now, one],
      [[before, `"a,b" ,, ${now}`], one],
      ['*', other],
    ] as const) {
      const known =
        typeof fresh === 'string' ? fresh.replace(now, await current()) : [...fresh, await current()]
      expect([known, (await send(route, change, { 'if-match': known })).status]).toEqual([known, 200])
    }
  })

  it.each(['', 'abc', '"open', '*, "a"', '"a" "b"', 'w/"a"', '"a"b"', ','])(
    'returns 400 for %j',
    async (malformed) => {
      const { status, body } = await send(route, one, { 'if-match': malformed })
      expect([status, body.message, body.details.map(({ field }: { field: string }) => field)]).toEqual([
        400,
        'errors.developer_api.invalid_params',
        ['if-match'],
      ])
    },
  )

  it('returns 404 for an unknown record, and the stored response to a repetition', async () => {
    expect((await send(route, one, { 'if-match': '*' }, unknownIds())).status).toBe(404)
    await send(route, other)
    const conditional = { 'if-match': await current(), 'idempotency-key': newUuid() }
    const first = await send(route, one, conditional)
    const again = await send(route, one, conditional)
    expect([
      first.status,
      again.status,
      again.text,
      again.headers.etag,
      again.headers['idempotent-replayed'],
    ]).toEqual([200, 200, first.text, first.headers.etag, 'true'])
    expect((await send(route, one, { ...conditional, 'idempotency-key': newUuid() })).status).toBe(412)
  })

  it('of ten equal changes with the same etag at the same time makes one', async () => {
    const etag = await etagAfter(one)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => send(route, other, { 'if-match': etag })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(412)])
  })

  it('returns the same bytes to a repetition of a change that changes nothing', async () => {
    await send(route, one)
    const key = { 'idempotency-key': newUuid() }
    const first = await send(route, {}, key)
    await send(route, other)
    const again = await send(route, {}, key)
    expect([first.status, again.status, again.text, again.headers['idempotent-replayed']]).toEqual([
      200,
      200,
      first.text,
      'true',
    ])
  })
})
