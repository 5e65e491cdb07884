import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { ApiError } from '../../../shared/api/errors.ts'
import { defineRoute, type Route } from '../../../shared/api/route.ts'
import { envelopeOf, paging } from '../../../shared/api/schemas.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import type { Credential } from '../../../shared/domain/credential.ts'
import { text } from '../../../shared/domain/patients/text-fields.ts'
import type { ApiContext } from '../../../shared/http/call.ts'
import { type ChainOptions, endpointChain } from '../../../shared/http/chain.ts'
import { apiEvent, call, lambdaContext } from '../../support/event.ts'

const route = defineRoute({
  id: 'test',
  method: 'GET',
  path: '/things/{id}',
  summary: 'For the test',
  scope: 'patient.read',
  params: { id: 'patient_not_found' },
  query: z.strictObject({ ...paging(), search: text(5).optional() }),
  response: { status: 200, body: envelopeOf(z.strictObject({ name: z.string() })) },
  errors: ['patient_not_found'],
})

const credential: Credential = {
  key: 'ck_1',
  name: 'test',
  clinic: { id: 'clinic-1' as ClinicId, name: 'C', timezone: 'UTC', currency: 'EUR' },
  scopes: ['patient.read'],
  createdAt: '2026-01-01T00:00:00Z',
  expiresAt: null,
  revokedAt: null,
  requestsPerMinute: 100,
}

const SECURITY_HEADERS = {
  'strict-transport-security': 'max-age=63072000; includeSubDomains',
  'x-content-type-options': 'nosniff',
}

const ID = '0b5a1f9e-7c7a-4c57-8f0f-2f2f6a1c9d11'
const good = { headers: { authorization: 'Developer k:s' }, path: { id: ID } }

type Act = (event: unknown, context: ApiContext) => Promise<unknown>

const chain = (act: Act = async () => ({ data: { name: 'x' } }), parts: Partial<ChainOptions> = {}) =>
  chainOf(route, act, parts)

const counted = (minute: number, second: number) => async () => ({ minute, second, secondsLeft: 20 })

function chainOf(of: Route, act: Act, parts: Partial<ChainOptions> = {}) {
  const lines: Record<string, unknown>[] = []
  const accesses: object[] = []
  const handler = endpointChain(of, {
    now: () => 1_000_000,
    log: (line) => lines.push(line),
    writeAccess: (access) => accesses.push(access),
    verifyCredential: async () => credential,
    onRejectedKey: () => {},
    onUnlimited: () => {},
    countRequest: counted(1, 1),
    requestsPerMinute: 300,
    recordUse: async () => {},
    checkResponses: true,
    toApiError: (error) => error,
    ...parts,
  }).handler(act)
  return { handler, lines, accesses }
}

describe('the chain', () => {
  it('returns the body and the request id, and writes one log line', async () => {
    const { handler, lines } = chain()
    const response = await call(handler, good)
    expect(response).toMatchObject({
      status: 200,
      body: { data: { name: 'x' } },
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'x-request-id': 'request-1',
        ...SECURITY_HEADERS,
        'ratelimit-policy': '"default";q=100;w=60',
        ratelimit: '"default";r=99;t=20',
      },
    })
    expect(lines).toEqual([
      {
        timestamp: '1970-01-01T00:16:40.000Z',
        level: 'info',
        request_id: 'request-1',
        route: 'test',
        status: 200,
        duration_ms: 0,
        clinic_id: 'clinic-1',
        credential: 'ck_1',
      },
    ])
  })

  it('records a rejected request as a write in the access trail, whatever its work had found', async () => {
    const { handler, accesses } = chain(async (_event, { call }) => {
      call.isUnchanged = true
      throw new ApiError('patient_not_found')
    })
    await call(handler, { ...good, method: 'POST' })
    expect(accesses).toMatchObject([{ access: 'write', outcome: 404 }])
  })

  it('sends deprecation and sunset with every response of a deprecated route, and with no other', async () => {
    const deprecated = { ...route, deprecated: { since: '2027-01-01', sunset: '2028-01-01' } }
    const { handler } = chainOf(deprecated, async () => ({ data: { name: 'x' } }))
    for (const event of [good, {}])
      expect((await call(handler, event)).headers).toMatchObject({
        deprecation: '@1798761600',
        sunset: 'Sat, 01 Jan 2028 00:00:00 GMT',
      })
    expect((await call(chain().handler, good)).headers).not.toHaveProperty('deprecation')
  })

  it('sends them for the alias of a path, and not for the path', async () => {
    const { handler } = chainOf({ ...route, id: 'list-doctors' }, async () => ({ data: { name: 'x' } }))
    const headersOf = async (path: string) =>
      (await call(handler, { ...good, resource: `/api/developer/v1${path}` })).headers
    expect(await headersOf('/clinic/doctors')).toMatchObject({
      deprecation: '@1795392000',
      sunset: 'Thu, 23 Nov 2028 00:00:00 GMT',
    })
    expect(await headersOf('/doctors')).not.toHaveProperty('deprecation')
  })

  it.each([
    ['Authorization twice', { authorization: ['Developer k:s', 'Developer k:s'] }],
    ['Authorization in two letter cases', { authorization: 'Developer k:s', Authorization: 'Developer k:s' }],
    ['a value without a colon', { authorization: 'Developer ks' }],
    ['no Authorization header', {}],
  ])('returns 401 without reading the store for %s', async (_, headers) => {
    const verify = vi.fn(async () => credential)
    const { handler } = chain(undefined, { verifyCredential: verify })
    expect(await call(handler, { ...good, headers })).toMatchObject({
      status: 401,
      body: { error: 'UNAUTHORIZED' },
    })
    expect(verify).not.toHaveBeenCalled()
  })

  it.each([
    ['page=0', { page: '0' }, 'page'],
    ['page=1.5', { page: '1.5' }, 'page'],
    ['page=1e3', { page: '1e3' }, 'page'],
    ['page=+1', { page: '+1' }, 'page'],
    ['page=01', { page: '01' }, 'page'],
    ['page=1000001', { page: '1000001' }, 'page'],
    ['page empty', { page: '' }, 'page'],
    ['page with a space', { page: ' 1' }, 'page'],
    ['page with a line feed', { page: '1\n' }, 'page'],
    ['page in other digits', { page: '١' }, 'page'],
    ['limit=101', { limit: '101' }, 'limit'],
    ['limit empty', { limit: '' }, 'limit'],
    ['limit=-1', { limit: '-1' }, 'limit'],
    ['page twice', { page: ['1', '2'] }, 'page'],
    ['search too long', { search: 'abcdef' }, 'search'],
    ['search that is not UTF-8', { search: '\uFFFD' }, 'search'],
    ['an unknown parameter', { pages: '1' }, 'pages'],
    ['a property of Object.prototype', { constructor: '1' }, 'constructor'],
    ['__proto__', JSON.parse('{"__proto__":"1"}'), '__proto__'],
  ])('returns 400 naming the parameter for %s', async (_, query, field) => {
    const response = await call(chain().handler, { ...good, query })
    expect(response).toMatchObject({
      status: 400,
      body: { error: 'INVALID_PARAMS', message: 'errors.developer_api.invalid_params' },
    })
    expect(response.body.details).toEqual([{ field, issue: expect.any(String) }])
  })

  it('returns 400 naming every invalid parameter', async () => {
    const response = await call(chain().handler, { ...good, query: { page: '0', limit: '0', x: '1' } })
    expect(response.body.details.map(({ field }: { field: string }) => field).sort()).toEqual([
      'limit',
      'page',
      'x',
    ])
  })

  it('counts code points, not UTF-16 code units', async () => {
    expect((await call(chain().handler, { ...good, query: { search: '😀😀😀😀😀' } })).status).toBe(200)
  })

  it('checks the scope before it validates the request', async () => {
    const { handler } = chain(undefined, { verifyCredential: async () => ({ ...credential, scopes: [] }) })
    const response = await call(handler, { ...good, query: { page: '0' }, path: { id: 'none' } })
    expect(response).toMatchObject({ status: 403, body: { details: [{ scope: 'patient.read' }] } })
  })

  it('checks in the order of docs/api.md', async () => {
    const posted = defineRoute({ ...route, method: 'POST', body: z.strictObject({ name: z.string() }) })
    const json = { 'content-type': 'application/json' }
    type Step = Parameters<typeof call>[1] & { clinic?: Credential['clinic']; scopes?: Credential['scopes'] }
    const paused = { ...credential.clinic, pausedAt: '2026-11-24T09:00:00Z' }
    const wrong = { query: { page: '0' }, path: { id: 'none' }, headers: { 'if-match': '*' } }
    const steps: [corrections: Step, status: number, key: string][] = [
      [{ ...wrong, body: 'x'.repeat(300_000), clinic: paused, scopes: [] }, 403, 'missing_scope'],
      [{ scopes: credential.scopes }, 503, 'clinic_paused'],
      [{ clinic: credential.clinic }, 400, 'invalid_params'],
      [{ query: {} }, 404, 'patient_not_found'],
      [{ path: { id: ID } }, 400, 'invalid_params'],
      [{ headers: {} }, 413, 'payload_too_large'],
      [{ body: '{' }, 415, 'unsupported_media_type'],
      [{ headers: json }, 400, 'malformed_json'],
      [{ body: '[]' }, 422, 'validation'],
      [{ body: '{}' }, 422, 'validation'],
      [
        { body: '{"name":"x"}', headers: { ...json, 'x-idempotency-key': 'other' } },
        400,
        'conflicting_idempotency_keys',
      ],
      [{ headers: json }, 422, 'invalid_idempotency_key'],
    ]
    const listed = /## Order of checks\n\n([\s\S]*?)\n\n/.exec(readFileSync('docs/api.md', 'utf8'))?.[1] ?? ''
    // Path, method and credential are checked before, records and rules by the endpoint.
    const statuses = listed
      .split('\n')
      .slice(3, -2)
      .map((line) => line.match(/\b\d{3}\b/g))
    expect(steps.map(([, status]) => `${status}`)).toEqual(statuses.flat())
    let request: Step = { method: 'POST' }
    for (const [corrections, status, key] of steps) {
      request = { ...request, ...corrections }
      const { clinic = credential.clinic, scopes = credential.scopes } = request
      const headers = { ...good.headers, 'idempotency-key': 'not visible', ...request.headers }
      const verifyCredential = async () => ({ ...credential, clinic, scopes })
      const { handler } = chainOf(posted, async () => ({ data: { name: 'x' } }), { verifyCredential })
      expect(await call(handler, { ...request, headers })).toMatchObject({
        status,
        body: { message: `errors.developer_api.${key}` },
      })
    }
  })

  it('returns 429 over the rate limit, whatever else is wrong', async () => {
    const over = { countRequest: counted(101, 1) }
    for (const parts of [over, { ...over, verifyCredential: async () => ({ ...credential, scopes: [] }) }]) {
      const response = await call(chain(undefined, parts).handler, { ...good, query: { page: '0' } })
      expect(response).toMatchObject({
        status: 429,
        body: { error: 'RATE_LIMITED', message: 'errors.developer_api.rate_limited' },
        headers: { 'retry-after': '20', ratelimit: '"default";r=0;t=20' },
      })
    }
  })

  it('returns 429 with retry-after 1 when only the limit of a second is exceeded', async () => {
    const { handler } = chain(undefined, { countRequest: counted(60, 51) })
    expect(await call(handler, good)).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
  })

  describe('in a process that knows that the credential is over its limit', () => {
    const act = vi.fn(async () => ({ data: { name: 'x' } }))
    const countRequest = vi.fn(counted(101, 1))
    let now = 0
    let limit = 100
    const { handler } = chain(act, {
      now: () => now,
      countRequest,
      verifyCredential: async () => ({ ...credential, requestsPerMinute: limit }),
    })
    beforeEach(async () => {
      limit = 100
      now += 1_000_500
      expect((await call(handler, good)).status).toBe(429)
      act.mockClear()
      countRequest.mockClear()
    })

    it('returns 429 without work until that second', async () => {
      // The second that the request was counted in ends after half a second.
      now += 19_400
      expect(await call(handler, good)).toMatchObject({
        status: 429,
        headers: {
          'retry-after': '1',
          ratelimit: '"default";r=0;t=1',
          'ratelimit-policy': '"default";q=100;w=60',
        },
      })
      expect([act.mock.calls, countRequest.mock.calls]).toEqual([[], []])
      now += 100
      countRequest.mockImplementationOnce(counted(1, 1))
      expect((await call(handler, good)).status).toBe(200)
    })

    it('counts again once the credential has another limit', async () => {
      limit = 101
      expect((await call(handler, good)).status).toBe(200)
    })
  })

  it('limits requests when the counter is throttled, beyond the burst that this process has seen in the last second', async () => {
    let now = 1_000_000
    const { handler } = chain(undefined, { now: () => now, countRequest: async () => 'throttled' })
    const statuses = async (requests: number) => {
      const all: number[] = []
      for (let n = 0; n < requests; n++) all.push((await call(handler, good)).status)
      return all.map((status, at) => (status === 200 ? 0 : at + 1)).find((at) => at > 0) ?? null
    }
    expect(await statuses(52)).toBe(51)
    now += 1001
    expect(await statuses(50)).toBeNull()
    now += 1001
    expect(await statuses(1)).toBeNull()
  })

  it('does not limit requests when the counter fails', async () => {
    const failing = async () => {
      throw new Error('down')
    }
    expect(
      (await call(chain(undefined, { countRequest: failing, recordUse: failing }).handler, good)).status,
    ).toBe(200)
  })

  it('does not limit requests when the counter hangs', async () => {
    const hanging = () => new Promise<never>(() => {})
    expect(
      (await call(chain(undefined, { countRequest: hanging, recordUse: hanging }).handler, good)).status,
    ).toBe(200)
  })

  it.each([
    ['an error of the catalogue', new ApiError('patient_not_found'), 404, 'NOT_FOUND'],
    ['an error with a cause', new ApiError('unavailable', { cause: new Error('x') }), 503, 'UNAVAILABLE'],
    ['any other error', new Error('Jane Doe +905321234567'), 500, 'INTERNAL'],
    ['a thrown value that is not an Error', 'Jane Doe', 500, 'INTERNAL'],
  ])('renders %s', async (_, thrown, status, error) => {
    const { handler } = chain(async () => {
      throw thrown
    })
    expect(await call(handler, good)).toMatchObject({
      status,
      body: { error },
      headers: { 'x-request-id': 'request-1', ...SECURITY_HEADERS },
    })
  })

  it('logs the origin of an unexpected error, but not its message', async () => {
    const { handler, lines } = chain(async () => {
      throw new TypeError('Jane Doe\n    at +905321234567')
    })
    const response = await call(handler, good)
    expect(lines).toMatchObject([
      {
        level: 'error',
        status: 500,
        origin: {
          name: 'TypeError',
          at: expect.arrayContaining([expect.stringContaining('chain.test.ts')]),
        },
      },
    ])
    expect(JSON.stringify([lines, response])).not.toMatch(/Jane|905321234567/)
  })

  it('returns 500 for a response that violates its schema, and logs the field without its value', async () => {
    const { handler, lines } = chain(async () => ({ data: { name: 'x', born: 'Jane Doe' } }))
    expect((await call(handler, good)).status).toBe(500)
    expect(JSON.stringify(lines)).toContain('ContractViolation(data: unrecognized_keys)')
    expect(JSON.stringify(lines)).not.toContain('Jane')
  })

  it('returns 500 for an error that the route does not declare', async () => {
    const undeclared = async () => {
      throw new ApiError('doctor_not_found')
    }
    const { handler, lines } = chain(undeclared)
    expect((await call(handler, good)).status).toBe(500)
    expect(JSON.stringify(lines)).toContain('ContractViolation(undeclared error doctor_not_found)')
    expect((await call(chain(undeclared, { checkResponses: false }).handler, good)).status).toBe(404)
  })

  it('does not check responses in production', async () => {
    const { handler } = chain(async () => ({ data: 1 }), { checkResponses: false })
    expect((await call(handler, good)).status).toBe(200)
  })

  it('returns 504 before Lambda aborts the function', async () => {
    const { handler } = chain(() => new Promise((resolve) => setTimeout(resolve, 200)))
    const response = await call(handler, good, lambdaContext(520))
    expect(response).toMatchObject({ status: 504, body: { error: 'TIMEOUT' } })
  })
})

describe('a paused clinic', () => {
  const paused = { ...credential.clinic, pausedAt: '2026-05-01T07:00:00.000Z' }
  const answerTo = (method: Route['method'], clinic: Credential['clinic']) =>
    call(
      chainOf({ ...route, method }, async () => ({ data: { name: 'x' } }), {
        verifyCredential: async () => ({ ...credential, clinic }),
      }).handler,
      { ...good, method },
    )

  it.each(['POST', 'PATCH', 'DELETE'] as const)('rejects %s with 503 and retry-after', async (method) => {
    expect(await answerTo(method, paused)).toMatchObject({
      status: 503,
      body: { message: 'errors.developer_api.clinic_paused' },
      headers: { 'retry-after': '60' },
    })
    expect((await answerTo(method, credential.clinic)).status).toBe(200)
  })

  it('lets reads pass', async () => {
    expect((await answerTo('GET', paused)).status).toBe(200)
  })
})

describe('a route without a response body', () => {
  const removal = defineRoute({
    ...route,
    method: 'DELETE',
    response: { status: 204, body: z.undefined() },
  })

  it('returns 204 without a body and without a content type', async () => {
    const { handler } = chainOf(removal, async () => undefined)
    const act = handler as unknown as (event: object, context: object) => Promise<object>
    const response = await act(apiEvent({ method: 'DELETE', ...good }), lambdaContext())
    expect(response).toEqual({
      statusCode: 204,
      headers: {
        'cache-control': 'no-store',
        ...SECURITY_HEADERS,
        'x-request-id': 'request-1',
        'ratelimit-policy': '"default";q=100;w=60',
        ratelimit: '"default";r=99;t=20',
      },
      body: '',
    })
  })

  it('returns 500 when the endpoint returns a body', async () => {
    const { handler, lines } = chainOf(removal, async () => ({ data: 'Jane Doe' }))
    expect((await call(handler, { method: 'DELETE', ...good })).status).toBe(500)
    expect(JSON.stringify(lines)).toContain('ContractViolation')
    expect(JSON.stringify(lines)).not.toContain('Jane')
  })
})

describe('a request body', () => {
  const writing = (body: z.ZodObject) =>
    defineRoute({ ...route, method: 'POST', query: z.strictObject({}), body })
  const NONE = writing(z.strictObject({}))
  const OPTIONAL = writing(z.strictObject({ name: z.string().optional() }))
  const REQUIRED = writing(z.strictObject({ name: z.string() }))
  const json = { 'content-type': 'application/json' }
  const LATIN = { 'content-type': 'application/json; charset=iso-8859-1' }
  const jsonp = { 'content-type': 'application/jsonp' }

  type Case = [what: string, of: typeof NONE, headers: Record<string, string>, body: string | undefined]
  const answerOf = async (
    of: Route,
    headers: Record<string, string>,
    body: string | undefined,
    query = {},
  ) => {
    const { handler } = chainOf(of, async () => ({ data: { name: 'x' } }))
    return call(handler, {
      method: 'POST',
      path: good.path,
      query,
      headers: { ...good.headers, ...headers },
      ...(body !== undefined && { body }),
    })
  }

  it.each<Case>([
    ['absent', NONE, {}, undefined],
    ['absent', OPTIONAL, {}, undefined],
    ['empty without a content type', NONE, {}, ''],
    ['an empty object', NONE, json, '{}'],
    ['an empty object', OPTIONAL, json, ' {} '],
    ['an object with a field', OPTIONAL, json, '{"name":"x"}'],
    ['JSON with a charset', REQUIRED, { 'content-type': 'application/json; charset=utf-8' }, '{"name":"x"}'],
    [
      'JSON with charset=utf8',
      REQUIRED,
      { 'content-type': 'application/json; charset=utf8' },
      '{"name":"x"}',
    ],
    ['JSON without an encoding', REQUIRED, { ...json, 'content-encoding': 'identity' }, '{"name":"x"}'],
    ['JSON with an upper-case type', REQUIRED, { 'Content-Type': 'APPLICATION/JSON' }, '{"name":"x"}'],
  ])('may be %s if its fields allow it', async (_, of, headers, body) => {
    expect((await answerOf(of, headers, body)).status).toBe(200)
  })

  it('has one issue for each wrong field, and so does a query', async () => {
    const word = z.string({ error: 'must be text' }).max(1).regex(/^b/)
    const of = { ...writing(z.strictObject({ name: word })), query: z.strictObject({ day: word }) }
    const field = (name: string) => ({ details: [{ field: name, issue: expect.any(String) }] })
    expect((await answerOf(of, json, '{"name":"aa"}', { day: 'b' })).body).toMatchObject(field('name'))
    expect((await answerOf(of, json, '{}', { day: ['b', 'b'] })).body).toMatchObject(field('day'))
  })

  const UNSUPPORTED = [415, 'UNSUPPORTED_MEDIA_TYPE'] as const
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
  const TEXT = { 'content-type': 'text/plain' }
  it.each<[...Case, status: number, error: string]>([
    ['absent when a field is required', REQUIRED, {}, undefined, ...UNSUPPORTED],
    ['an object without a content type', NONE, {}, '{}', ...UNSUPPORTED],
    ['empty with content type text/plain', NONE, TEXT, undefined, ...UNSUPPORTED],
    ['an object with content type text/plain', NONE, TEXT, '{}', ...UNSUPPORTED],
    ['a form', NONE, FORM, 'a=b', ...UNSUPPORTED],
    ['JSON in another charset', NONE, LATIN, '{}', ...UNSUPPORTED],
    ['compressed', NONE, { ...json, 'content-encoding': 'gzip' }, '{}', ...UNSUPPORTED],
    ['an object as JSONP', NONE, jsonp, '{}', ...UNSUPPORTED],
    ['empty with content type JSON', REQUIRED, json, '', 400, 'INVALID_PARAMS'],
    ['malformed JSON', NONE, json, '{', 400, 'INVALID_PARAMS'],
    ['a list', NONE, json, '[]', 422, 'VALIDATION'],
    ['null', NONE, json, 'null', 422, 'VALIDATION'],
    ['a string', NONE, json, '"{}"', 422, 'VALIDATION'],
    ['an object with an unknown field', NONE, json, '{"name":"x"}', 422, 'VALIDATION'],
    ['an object with the field constructor', NONE, json, '{"constructor":1}', 422, 'VALIDATION'],
    ['an object with the field __proto__', NONE, json, '{"__proto__":{}}', 422, 'VALIDATION'],
  ])('may not be %s', async (_, of, headers, body, status, error) => {
    expect(await answerOf(of, headers, body)).toMatchObject({ status, body: { error } })
  })
})
