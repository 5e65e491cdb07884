/** Webhooks over HTTP on the synthesized stack: a booking becomes a signed delivery at a webhook endpoint on this machine. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { issueCredential } from '../support/credentials.ts'
import { get, post, type RunningStack, runClinicTool, runStack } from '../support/local-stack.ts'
import { createPopulatedClinic } from '../support/records.ts'

type Got = { path: string; headers: Record<string, string>; body: string; at: number }

let stack: RunningStack
let receiver: Server
let address: string
let one: Awaited<ReturnType<typeof createPopulatedClinic>>
let clinic: Clinic
let pair: string
const received: Got[] = []
/** How the receiver responds to a path; 204 by default. */
let responders: Record<string, (request: IncomingMessage, response: any) => void> = {}

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    const path = request.url ?? ''
    received.push({ path, headers: request.headers as Record<string, string>, body, at: Date.now() })
    const respond = responders[path]
    if (respond) respond(request, response)
    else response.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  address = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
  stack = await runStack({ demo: false, allowedWebhookHost: address })
  one = await createPopulatedClinic(stack.table)
  clinic = one.clinic
  const { key, secret } = await issueCredential(stack.table, clinic)
  pair = `${key}:${secret}`
  // Events from before the first endpoint have their sequence numbers by then.
  await eventually(async () => expect((await get(stack, '/events', pair)).body.data.length).toBe(5))
}, 60_000)
afterAll(async () => {
  receiver?.closeAllConnections()
  receiver?.close()
  await stack?.close()
})
beforeEach(() => {
  responders = {}
})

/** Waits until the check passes; a busy machine takes long. */
const eventually = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 15_000, interval: 50 })

const create = async (path: string, events: string[]) => {
  const response = await post(stack, '/webhooks', { url: `http://${address}${path}`, events }, { pair })
  expect(response.status).toBe(201)
  return response.body.data as { id: string; secret: string }
}

let minute = 9 * 60
const book = async () => {
  minute += 30
  const start = `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
  const body = {
    patient_id: one.patient.id,
    doctor_id: one.doctor.id,
    appointment_date: '2030-01-07',
    start_time: start,
    notes: 'CANARY-7351',
  }
  const response = await post(stack, '/appointments', body, { pair })
  expect(response.status).toBe(201)
  return { id: response.body.data.id as string, requestId: response.headers['x-request-id'] }
}

/** Waits until the receiver got `count` requests for a path. */
const arrived = async (path: string, count = 1): Promise<Got[]> => {
  await vi.waitFor(
    () => expect(received.filter((got) => got.path === path).length).toBeGreaterThanOrEqual(count),
    {
      timeout: 15_000,
      interval: 20,
    },
  )
  return received.filter((got) => got.path === path)
}

it('delivers a booking that the reference library verifies', async () => {
  const { secret } = await create('/booked', ['appointment.created'])
  const { id, requestId } = await book()
  const [got] = await arrived('/booked')
  if (!got) throw new Error('nothing arrived')
  const verifier = new Webhook(secret)
  expect(verifier.verify(got.body, got.headers)).toEqual({
    id: got.headers['webhook-id'],
    event: 'appointment.created',
    clinic_id: clinic.id,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+03:00$/),
    sequence: 1,
    source: 'api',
    request_id: requestId,
    data: {
      id,
      patient_id: one.patient.id,
      doctor_id: one.doctor.id,
      treatment_ids: [],
      room_id: null,
      status: 'scheduled',
      appointment_date: '2030-01-07',
      start_time: '09:30',
      end_time: '10:00',
    },
  })
  const attempt = { worker: 'deliver-event', request_id: requestId, outcome: 'delivered' }
  await eventually(async () => expect(stack.lines).toContainEqual(expect.objectContaining(attempt)))
})

it('delivers every status of the messages of a test clinic, none of which reaches SNS or SES', async () => {
  const settings = ['--name', 'Praxis Test', '--timezone', 'Europe/Berlin', '--currency', 'EUR']
  const tool = await runClinicTool(stack, '--json', 'clinic', 'create', '--test', ...settings)
  const { key, secret } = await issueCredential(stack.table, tool.json().data)
  const test = { pair: `${key}:${secret}` }
  const [me, own] = await Promise.all(['/me', '/clinic'].map((path) => get(stack, path, test.pair)))
  expect([me?.body.data.clinic.is_test, own?.body.data.is_test]).toEqual([true, true])
  const events = ['sms.sent', 'sms.failed', 'email.sent', 'email.delivered']
  await post(stack, '/webhooks', { url: `http://${address}/tested`, events }, test)
  const person = { first_name: 'Ada', last_name: 'Kaya', phone_number: '+12015550104' }
  const patient = await post(stack, '/patients', { ...person, email_address: 'ada@example.com' }, test)
  for (const channel of ['sms', 'email'])
    await post(stack, '/messages', { channel, patient_id: patient.body.data.id, message: 'Hello' }, test)
  const got = await arrived('/tested', events.length)
  expect(got.map(({ body }) => JSON.parse(body).event).sort()).toEqual(events.toSorted())
  for (const url of [stack.smsOutboxUrl, stack.emailInboxUrl])
    expect(await (await fetch(url)).json()).toEqual([])
})
