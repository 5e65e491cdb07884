/** What `location` names can be read over HTTP with the read scope, and again only if it has changed; aliases work too. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Scope } from '../../shared/domain/scope.ts'
import { get, post, type RunningStack, runStack, send } from '../support/local-stack.ts'

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
    // What another scope reads, and the secret, which only this response has.
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

it('a webhook endpoint can be tested, and its delivery replayed, at the second paths', async () => {
  const { id } = (await post(stack, '/webhooks', { url, events: ['patient.created'] })).body.data
  const tested = await post(stack, `/webhooks/${id}/test`, {})
  expect(tested.status).toBe(202)
  const replayed = await post(stack, `/webhooks/${id}/deliveries/${tested.body.data.id}/replay`, {})
  expect([replayed.status, replayed.body.data.event_id]).toEqual([202, tested.body.data.event_id])
})
