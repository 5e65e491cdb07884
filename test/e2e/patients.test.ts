/** The synthesized stack over HTTP: reading and searching imported patients. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../shared/domain/uuid.ts'
import { get, type HttpResponse, type RunningStack, runStack, send } from '../support/local-stack.ts'
import { rounds } from '../support/scale.ts'
import { shouldMatch } from '../support/search-oracle.ts'

type Shown = {
  id: string
  full_name: string
  first_name: string
  last_name: string
  phone_number: string | null
  email_address: string | null
}

let stack: RunningStack
let everybody: Shown[]

beforeAll(async () => {
  stack = await runStack()
  everybody = await readAll('', 100)
})
afterAll(() => stack.close())

/** The records of all pages. */
async function readAll(query: string, limit: number, pair?: string): Promise<Shown[]> {
  const found: Shown[] = []
  for (let page = 1; ; page++) {
    const { status, body } = await get(stack, `/patients?limit=${limit}&page=${page}${query}`, pair)
    expect(status).toBe(200)
    found.push(...body.data)
    expect(body.meta).toEqual({
      page,
      limit,
      total: expect.any(Number),
      total_pages: Math.ceil(body.meta.total / limit),
      next_after: page < body.meta.total_pages ? expect.any(String) : null,
    })
    if (page >= body.meta.total_pages) {
      expect(found.length).toBe(body.meta.total)
      return found
    }
  }
}

const ids = (patients: readonly { id: string }[]) => patients.map(({ id }) => id)

describe('GET /patients', () => {
  it.each([7, 20, 100])(
    'returns each patient once, most recently added first, by pages of %i',
    async (limit) => {
      const patients = await readAll('', limit)
      expect(patients.length).toBe(500)
      expect(new Set(ids(patients)).size).toBe(500)
      expect(ids(patients)).toEqual(ids(everybody))
    },
  )

  it("returns the clinic's own patients only", async () => {
    const others = await readAll('', 20, stack.clinics[1]?.credentials.full)
    expect(others.length).toBe(40)
    expect(ids(others).filter((id) => ids(everybody).includes(id))).toEqual([])
  })

  it('returns timestamps with the UTC offset of the clinic', async () => {
    const times = await Promise.all(
      [0, 1].map((at) => get(stack, '/patients?limit=1', stack.clinics[at]?.credentials.full)),
    )
    expect(times.map(({ body }) => body.data[0].created_at.slice(19))).toEqual(['+03:00', '+05:45'])
  })

  it.each([
    'ayşe',
    'AYSE',
    'isil',
    'IŞIL',
    'ışıl',
    'İSMAİL',
    'ismail',
    'grossmann',
    'Großmann',
    'GROSSMANN',
    'lukasz',
    'zoe',
    'yılmaz zeynep',
    'zeynep  yilmaz',
    'kaya me',
    'example.com',
    '@example',
    'kaya1',
    '+90 53',
    '90532',
    '0532',
    '00 90 532',
    '(0532)',
    '0 5 3 2',
    '12',
    '53',
    'unmatched',
    '%',
    '_',
    "'",
    '"',
    '\\',
    '*',
    '.*',
    '😀',
    '\u200f',
    '\u0000',
    'a\u0000b',
    'ş',
    'é',
  ])('finds what the oracle finds for %j', async (query) => {
    const expected = everybody.filter((known) =>
      shouldMatch({ name: known.full_name, phone: known.phone_number, email: known.email_address }, query),
    )
    for (const limit of [rounds(60, 7), 100]) {
      expect(ids(await readAll(`&search=${encodeURIComponent(query)}`, limit))).toEqual(ids(expected))
    }
  })

  it('finds each patient by the last four digits, the local form of the number and parts of the email', async () => {
    for (const { id, phone_number, email_address } of everybody.slice(0, rounds(8, 40))) {
      const forms = phone_number
        ? [
            phone_number.slice(-4),
            phone_number.replace('+90', '0'),
            phone_number.replace('+', '00'),
            phone_number,
          ]
        : []
      for (const query of [...forms, ...(email_address ? [email_address.slice(2)] : [])]) {
        expect(ids(await readAll(`&search=${encodeURIComponent(query)}`, 100))).toContain(id)
      }
    }
  })

  it('ignores an empty search, and rejects more than 200 characters', async () => {
    expect((await get(stack, '/patients?search=')).body.meta.total).toBe(500)
    expect((await get(stack, '/patients?search=%20%20')).body.meta.total).toBe(500)
    expect((await get(stack, `/patients?search=${'x'.repeat(200)}`)).status).toBe(200)
    expect(await get(stack, `/patients?search=${'x'.repeat(201)}`)).toMatchObject({
      status: 400,
      body: { details: [{ field: 'search' }] },
    })
  })

  it('returns an empty page with the exact total past the last page', async () => {
    expect((await get(stack, '/patients?page=1000000')).body).toEqual({
      data: [],
      meta: { page: 1_000_000, limit: 20, total: 500, total_pages: 25, next_after: null },
    })
  })

  it.each([
    ['page=0', 'page'],
    ['page=1.5', 'page'],
    ['page=1e3', 'page'],
    ['page=1000001', 'page'],
    ['limit=101', 'limit'],
    ['limit=', 'limit'],
    ['limit', 'limit'],
    ['page=1&page=2', 'page'],
    ['page=%201', 'page'],
    ['sort=name', 'sort'],
    ['Page=1', 'Page'],
    ['__proto__=1', '__proto__'],
    ['page[]=1', 'page[]'],
  ])('returns 400 naming the parameter for %s', async (query, field) => {
    const { status, body } = await get(stack, `/patients?${query}`)
    expect([status, body.error, body.message, body.details.length, body.details[0].field]).toEqual([
      400,
      'INVALID_PARAMS',
      'errors.developer_api.invalid_params',
      1,
      field,
    ])
  })
})

describe('GET /patients/{id}', () => {
  it('returns the same patient as the list', async () => {
    const [patient] = everybody
    const { status, body, headers } = await get(stack, `/patients/${patient?.id.toUpperCase()}`)
    expect([status, body]).toEqual([200, { data: { ...patient, national_id: null, notes: null } }])
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-request-id': headers['x-amz-apigw-id'],
    })
  })

  it('returns the same 404, byte for byte, for an unknown id, a malformed id and another clinic’s id', async () => {
    const [theirs] = (await get(stack, '/patients?limit=1', stack.clinics[1]?.credentials.full)).body.data
    for (const id of [theirs.id, newUuid(), 'no-uuid', '..%2f..', '%00', '%F0%9F%98%80', `${theirs.id}x`]) {
      const { status, text } = await get(stack, `/patients/${id}`)
      expect([status, text]).toEqual([
        404,
        '{"error":"NOT_FOUND","message":"errors.developer_api.patient_not_found"}',
      ])
    }
  })
})

describe('GET /doctors', () => {
  it('lists the doctors by name', async () => {
    const { body } = await get(stack, '/doctors')
    expect(
      body.data.map(({ full_name, is_active }: { full_name: string; is_active: boolean }) => [
        full_name,
        is_active,
      ]),
    ).toEqual([
      ['Dr. Emre Koç', true],
      ['Dr. Nazlı Uçar', true],
      ['Dr. Ömer Taş', false],
      ['Dr. Selin Arslan', true],
    ])
    expect(body.meta).toEqual({ page: 1, limit: 20, total: 4, total_pages: 1 })
  })
})

describe('credentials', () => {
  const full = () => stack.clinics[0]?.credentials.full ?? ''
  const UNAUTHORIZED = '{"error":"UNAUTHORIZED","message":"errors.developer_api.unauthorized"}'

  it.each<[string, () => Record<string, string | string[]>]>([
    ['no header', () => ({})],
    ['an empty header', () => ({ authorization: '' })],
    ['another scheme', () => ({ authorization: `Basic ${Buffer.from(full()).toString('base64')}` })],
    ['Bearer', () => ({ authorization: `Bearer ${full()}` })],
    [
      'an AWS signature',
      () => ({
        authorization:
          'AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/execute-api/aws4_request, SignedHeaders=host, Signature=0',
      }),
    ],
    ['no colon', () => ({ authorization: `Developer ${full().replace(':', '')}` })],
    ['two colons', () => ({ authorization: `Developer ${full()}:` })],
    ['an empty key', () => ({ authorization: `Developer :${full().split(':')[1]}` })],
    ['an empty secret', () => ({ authorization: `Developer ${full().split(':')[0]}:` })],
    ['two spaces', () => ({ authorization: `Developer  ${full()}` })],
    ['8 KB', () => ({ authorization: `Developer ${'k'.repeat(8100)}:s` })],
    ['letters beyond ASCII', () => ({ authorization: `Developer ${full()}é` })],
    ['the header twice', () => ({ authorization: [`Developer ${full()}`, `Developer ${full()}`] })],
    ['a wrong secret', () => ({ authorization: `Developer ${full()}x` })],
    ['an unknown key', () => ({ authorization: `Developer x${full()}` })],
    [
      "another clinic's secret",
      () => ({
        authorization: `Developer ${full().split(':')[0]}:${stack.clinics[1]?.credentials.full.split(':')[1]}`,
      }),
    ],
  ])('with %s get the same 401', async (_, headers) => {
    const { status, text, headers: answered } = await send(`${stack.api}/patients`, { headers: headers() })
    expect([status, text]).toEqual([401, UNAUTHORIZED])
    expect(answered['x-amzn-remapped-www-authenticate']).toBe('Developer')
  })

  it('reach the endpoints of their scope, and get a 403 naming the missing scope elsewhere', async () => {
    const { credentials } = stack.clinics[0] ?? { credentials: {} as never }
    expect((await get(stack, '/patients', credentials['patient.read'])).status).toBe(200)
    expect((await get(stack, '/doctors', credentials['appointment.read.availability'])).status).toBe(200)
    for (const pair of [credentials.none, credentials['patient.write']]) {
      expect(await get(stack, '/patients?page=0', pair)).toMatchObject({
        status: 403,
        body: {
          error: 'FORBIDDEN',
          message: 'errors.developer_api.missing_scope',
          details: [{ scope: 'patient.read' }],
        },
      })
    }
  })

  it('are accepted with the scheme in any letter case', async () => {
    expect(
      (await send(`${stack.api}/doctors`, { headers: { authorization: `dEVELOPER ${full()}` } })).status,
    ).toBe(200)
  })
})

describe('unmatched requests', () => {
  const notFound = (answer: HttpResponse) =>
    expect(answer).toMatchObject({
      status: 404,
      body: { error: 'NOT_FOUND', message: 'errors.developer_api.route_not_found' },
      headers: { 'x-request-id': expect.anything() },
    })

  it.each([
    '/',
    '/nothing',
    '/api',
    '/api/developer/v1',
    '/api/developer/v1/nothing',
    '/api/developer/v1/patients/a/b',
    '/api/developer/v2/patients',
  ])('return 404: %s', async (path) => {
    notFound(await send(`${stack.baseUrl}${path}`))
    notFound(
      await send(`${stack.baseUrl}${path}`, { method: 'POST', headers: { authorization: 'Developer k:s' } }),
    )
  })

  it.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'])(
    '%s on a path that exists is a 405 with allow, before any credential',
    async (method) => {
      for (const path of ['/patients', `/doctors/${newUuid()}`, '/doctors']) {
        const answer = await send(`${stack.api}${path}`, { method })
        expect([answer.status, answer.headers.allow]).toEqual([
          405,
          path === '/patients' ? 'GET, POST' : 'GET',
        ])
        if (method !== 'HEAD')
          expect(answer.body).toEqual({
            error: 'METHOD_NOT_ALLOWED',
            message: 'errors.developer_api.method_not_allowed',
          })
      }
    },
  )
})

it('logs one line per request, with no data about a patient', async () => {
  const [patient] = everybody
  stack.log.length = 0
  await get(stack, `/patients/${patient?.id}`)
  await get(stack, `/patients?search=${encodeURIComponent(patient?.last_name ?? '')}`)
  expect(stack.log.length).toBe(2)
  expect(stack.log[0]).toMatch(/200 +GET +\/api\/developer\/v1\/patients\/\{id\}/)
  for (const secret of [patient?.id, patient?.last_name, patient?.email_address ?? 'none'])
    expect(stack.log.join()).not.toContain(secret)
})
