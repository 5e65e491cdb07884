/** The whole over HTTP, as briefly as possible; test/e2e has the rest. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createClient, verifyWebhook } from '../shared/clients/typescript/client.ts'
import type { Clinic } from '../shared/domain/clinic.ts'
import type { Scope } from '../shared/domain/scope.ts'
import { issueCredential } from './support/credentials.ts'
import { createWebhook } from './support/deliveries.ts'
import { assertConforms } from './support/document-conformance.ts'
import { get, type RunningStack, runStack } from './support/local-stack.ts'
import { createPopulatedClinic, type PopulatedClinic } from './support/records.ts'
import { aPatient, newClinic } from './support/table.ts'

let stack: RunningStack
let world: PopulatedClinic
let credential: Awaited<ReturnType<typeof issueCredential>>
let address: string
const received: { headers: Record<string, string>; body: string }[] = []
const receiver = createServer(async (request, response) => {
  let body = ''
  for await (const piece of request) body += piece
  received.push({ headers: request.headers as Record<string, string>, body })
  response.writeHead(204).end()
})

beforeAll(async () => {
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  address = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
  stack = await runStack({ demo: false, allowedWebhookHost: address })
  world = await createPopulatedClinic(stack.table)
  credential = await issueCredential(stack.table, world.clinic)
})
afterAll(async () => {
  receiver.closeAllConnections()
  receiver.close()
  await stack?.close()
})

it('lists patients, books the first free slot, sends an email, receives and verifies its webhook, in ten requests or fewer', async () => {
  let requests = 0
  const counting = async (url: string, init: RequestInit): Promise<Response> => {
    requests++
    const response = await fetch(url, init)
    const body = await response.clone().json()
    const headers = Object.fromEntries(response.headers)
    assertConforms(init.method ?? '', new URL(url).pathname, response.status, headers, body)
    return response
  }
  const { key, secret } = credential
  const clinic = createClient({ baseUrl: stack.baseUrl, key, secret, fetch: counting as typeof fetch })

  const { data: webhook } = await clinic.webhooks.create({
    url: `http://${address}/hooks`,
    events: ['email.sent'],
  })
  const { data: patients } = await clinic.patients.list({ limit: 100 })
  const patient = patients.find(({ email_address }) => email_address !== null)
  const { data: doctors } = await clinic.doctors.list()
  const doctor = doctors.find(({ is_active }) => is_active)
  if (!patient || !doctor) throw new Error('the clinic has patients and doctors')
  let booked: string | undefined
  for (let day = 1; !booked; day++) {
    const date = new Date(Date.now() + day * 86_400_000).toISOString().slice(0, 10)
    const { data: slots } = await clinic.availability.get({ doctor_id: doctor.id, date })
    const [slot] = slots
    if (!slot) continue
    const { data } = await clinic.appointments.book({
      patient_id: patient.id,
      doctor_id: doctor.id,
      appointment_date: date,
      start_time: slot.start_time,
    })
    booked = data.id
  }
  const sent = await clinic.messages.send({
    channel: 'email',
    patient_id: patient.id,
    message: 'See you soon',
  })
  expect(sent.data.status).toBe('queued')
  await vi.waitFor(() => expect(received.length).toBe(1), { timeout: 15_000 })
  const { headers = {}, body = '' } = received[0] ?? {}
  const event = await verifyWebhook({ headers, body, secret: webhook.secret ?? '' })
  expect(event).toMatchObject({ event: 'email.sent', data: { patient_id: patient.id, status: 'sent' } })
  expect(requests).toBeLessThanOrEqual(10)
})

/** The scopes in docs/operate/release.md. */
const SMOKE_SCOPES: Scope[] = [
  ...(['appointment.read', 'appointment.read.availability', 'appointment.write'] as const),
  ...(['patient.read', 'patient.write', 'webhook.read', 'webhook.write'] as const),
]

describe('npm run smoke', () => {
  const smoke = async (clinic: Clinic) => {
    const { key, secret } = await issueCredential(stack.table, clinic, SMOKE_SCOPES)
    const args = ['bin/smoke.ts', '--url', stack.baseUrl, '--credential', `${key}:${secret}`]
    const { code, stdout, stderr } = await promisify(execFile)('node', args).catch((failure) => failure)
    return { code: code ?? 0, stdout, stderr }
  }

  it('books, moves and cancels in a test clinic, finds the events, and has a ping delivered', async () => {
    const clinic = await newClinic(stack.table, { isTest: true })
    await createPopulatedClinic(stack.table, aPatient(), clinic)
    await createWebhook(stack.table, clinic.id, { url: `http://${address}/hooks` })
    const { code, stdout, stderr } = await smoke(clinic)
    expect([code, stderr]).toEqual([0, ''])
    for (const step of ['book', 'read', 'move', 'cancel', 'find the events', 'deliver a ping'])
      expect(stdout).toMatch(new RegExp(`^${step}: \\d+ ms$`, 'm'))
  })

  it('writes nothing into a clinic that is not a test clinic', async () => {
    const pair = `${credential.key}:${credential.secret}`
    const before = await get(stack, '/appointments', pair)
    expect(await smoke(world.clinic)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not of a test clinic'),
    })
    expect((await get(stack, '/appointments', pair)).body).toEqual(before.body)
  })
})
