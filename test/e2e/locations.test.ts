/** The `location` of a created record can be read with the read scope, and again only if it has changed; aliases work too. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Scope } from '../../shared/domain/scope.ts'
import { get, type HttpResponse, post, type RunningStack, runStack, send } from '../support/local-stack.ts'

let stack: RunningStack

beforeAll(async () => {
  stack = await runStack()
})
afterAll(() => stack.close())

const url = 'https://example.com/hooks'

/** The bodies of requests that create a record, with the scope that reads it. */
const creations = async (): Promise<[path: string, body: object, scope: Scope][]> => {
  const doctors = (await get(stack, '/clinic/doctors?limit=100')).body.data
  const doctor_id = doctors.find((one: { is_active: boolean }) => one.is_active).id
  const patient_id = (await get(stack, '/patients?limit=1')).body.data[0].id
  return [
    ['/patients', { first_name: 'Ada', last_name: 'Kaya' }, 'patient.read'],
    ['/appointments', { patient_id, doctor_id, ...(await firstSlot(doctor_id)) }, 'appointment.read'],
    ['/webhooks', { target_url: url, subscribed_events: ['payment.received'] }, 'webhook.read'],
  ]
}

async function firstSlot(doctor: string): Promise<object> {
  for (let days = 30; ; days++) {
    const date = new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
    const [slot] = (await get(stack, `/availability?doctor_id=${doctor}&date=${date}`)).body.data
    if (slot) return { appointment_date: date, start_time: slot.start_time }
  }
}

it('every location names a record that the read scope can read, with an etag that saves reading it again', async () => {
  for (const [path, body, scope] of await creations()) {
    const created = await post(stack, path, body)
    expect([path, created.status]).toEqual([path, 201])
    const authorization = `Developer ${stack.clinics[0]?.credentials[scope]}`
    const location = new URL(String(created.headers.location), stack.api).href
    const read = await send(location, { headers: { authorization } })
    // Fields that need another scope, and the secret, which only this response has.
    const { secret: _, national_id: __, notes: ___, ...data } = created.body.data
    expect([path, read.status, read.body.data]).toEqual([path, 200, expect.objectContaining(data)])
    const again = await send(location, {
      headers: { authorization, 'if-none-match': String(read.headers.etag) },
    })
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', read.headers.etag])
  }
})

it('the location of a queued email names its entry in the communication log', async () => {
  const patients = (await get(stack, '/patients?limit=100')).body.data
  const { id } = patients.find((one: { email_address: string | null }) => one.email_address)
  const sent = await post(stack, '/messages', { channel: 'email', patient_id: id, message: 'See you at ten' })
  expect([sent.status, sent.body.data.id]).toEqual([202, undefined])
  const authorization = `Developer ${stack.clinics[0]?.credentials['communication.read.sms']}`
  const location = new URL(String(sent.headers.location), stack.api).href
  const { status, body } = await send(location, { headers: { authorization } })
  expect([status, body.data]).toMatchObject([200, { channel: 'email', patient: { id } }])
})

it('a request with X-Idempotency-Key is executed once', async () => {
  const body = { first_name: 'Ada', last_name: 'Kaya' }
  const create = () => post(stack, '/patients', body, { headers: { 'X-Idempotency-Key': 'once' } })
  const [first, again] = [await create(), await create()]
  expect([first.status, again.text]).toEqual([201, first.text])
})

describe('a second path of an endpoint', () => {
  const count = ({ headers }: HttpResponse) => Number(/r=(\d+)/.exec(String(headers.ratelimit))?.[1])

  /** The log line of a request and its line of the access trail, found by the response. */
  const linesOf = async ({ headers }: HttpResponse) => {
    const lines = () =>
      stack.lines.filter(
        ({ request_id, route }) => request_id === headers['x-request-id'] && route !== undefined,
      )
    await vi.waitFor(() => expect(lines().length).toBe(2))
    return lines().map(({ type, route, status, outcome }) => [type ?? 'request', route, status ?? outcome])
  }

  /** The parts of a response that must not depend on the path. */
  const seen = ({ status, headers, text }: HttpResponse) => {
    const differing = /^(date|ratelimit|x-request-id|idempotent-replayed|deprecation|sunset)$/
    return {
      status,
      headers: Object.keys(headers)
        .filter((name) => !differing.test(name))
        .sort(),
      text,
    }
  }

  /** Requests of an endpoint at its first path and at its second one. */
  const requestsOf = async (): Promise<Record<string, [first: string, second: string]>> => {
    const { id } = (await post(stack, '/webhooks', { url, events: ['patient.created'] })).body.data
    const delivery = (await post(stack, `/webhooks/${id}/ping`, {})).body.data.id
    const deliveries = `/webhooks/${id}/deliveries/${delivery}`
    return {
      'ping-webhook': [`/webhooks/${id}/ping`, `/webhooks/${id}/test`],
      redeliver: [`${deliveries}/redeliver`, `${deliveries}/replay`],
    }
  }

  it('returns what the first returns, counts for the same rate, and logs the endpoint', async () => {
    const [first, second] = [await get(stack, '/doctors'), await get(stack, '/clinic/doctors')]
    expect(seen(second)).toEqual(seen(first))
    expect(count(second)).toBe(count(first) - 1)
    expect((await linesOf(second)).sort()).toEqual([
      ['access', 'list-doctors', 200],
      ['request', 'list-doctors', 200],
    ])
    const rejected = await send(`${stack.api}/clinic/doctors`, { method: 'PUT' })
    expect([rejected.status, rejected.headers.allow]).toEqual([405, 'GET'])
  })

  it.each(['ping-webhook', 'redeliver'])(
    'shares the idempotency keys of %s, in both directions',
    async (id) => {
      const [firstPath = '', secondPath = ''] = (await requestsOf())[id] ?? []
      for (const [at, [first, again]] of [
        [firstPath, secondPath],
        [secondPath, firstPath],
      ].entries()) {
        const key = `${id}-${at}`
        const original = await post(stack, first as string, {}, { key })
        const repeated = await post(stack, again as string, {}, { key })
        expect(original.status).toBe(202)
        expect(seen(repeated)).toEqual(seen(original))
        expect(repeated.headers['idempotent-replayed']).toBe('true')
        for (const response of [original, repeated])
          expect((await linesOf(response)).sort()).toEqual([
            ['access', id, 202],
            ['request', id, 202],
          ])
      }
    },
  )
})
