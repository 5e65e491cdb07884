/** SMS over HTTP on the synthesized stack, with an SNS that is slow or throttles. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { SMS_DEADLINE_MS } from '../../shared/runtime/messaging.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { issueCredential } from '../support/credentials.ts'
import { get, post, type RunningStack, runClinicTool, runStack } from '../support/local-stack.ts'
import { aPatient, newClinic } from '../support/table.ts'

type Behaviour = { readonly delayMs: number; readonly reply: 'accept' | 'throttle' }

/** The behaviour of SNS for the calls for one number, in their order; further ones are accepted at once. */
const behaviours = new Map<string, Behaviour[]>()
let calls: string[]
/** The numbers of the SMS that SNS has accepted: those whose caller was still connected when it replied. */
let taken: string[]

let sns: Server
let stack: RunningStack

beforeAll(async () => {
  sns = createServer(async (request, response) => {
    const to = new URLSearchParams(await text(request)).get('PhoneNumber') ?? ''
    calls.push(to)
    const { delayMs, reply } = behaviours.get(to)?.shift() ?? { delayMs: 0, reply: 'accept' }
    await sleep(delayMs)
    if (request.socket.destroyed) return
    if (reply === 'accept') taken.push(to)
    response.writeHead(reply === 'accept' ? 200 : 429, { 'content-type': 'text/xml' })
    response.end(
      reply === 'accept'
        ? '<PublishResponse><PublishResult><MessageId>m1</MessageId></PublishResult></PublishResponse>'
        : '<ErrorResponse><Error><Type>Sender</Type><Code>Throttled</Code></Error></ErrorResponse>',
    )
  }).listen(0, '127.0.0.1')
  await once(sns, 'listening')
  const endpoint = `http://127.0.0.1:${(sns.address() as AddressInfo).port}`
  stack = await runStack({ demo: false, environment: { AWS_ENDPOINT_URL_SNS: endpoint } })
})
afterAll(async () => {
  await stack?.close()
  sns.closeAllConnections()
  sns.close()
})

beforeEach(() => {
  calls = []
  taken = []
  behaviours.clear()
})

/** A clinic with one patient, and what its integrator and its operator do. */
async function practice() {
  const clinic = await newClinic(stack.table)
  const { key, secret } = await issueCredential(stack.table, clinic)
  const pair = `${key}:${secret}`
  const patient = aPatient()
  await patientWriter(stack).createMany(clinic.id, [patient])
  const number = patient.phoneNumber as string
  return {
    number,
    behave: (...steps: Behaviour[]) => behaviours.set(number, steps),
    set: (...options: string[]) =>
      runClinicTool(stack, 'clinic', 'update', '--clinic', clinic.id, ...options),
    log: async () => (await get(stack, '/messages', pair)).body.data,
    /** Sends an SMS. Returns the response, and how long it took. */
    send: async () => {
      const startedAt = performance.now()
      const message = { channel: 'sms', patient_id: patient.id, message: 'See you at ten' }
      const response = await post(stack, '/messages', message, { pair })
      return { ...response, ms: performance.now() - startedAt }
    },
  }
}

/** Longer than the function of a request may run. */
const AFTER_THE_FUNCTION_MS = 16_000

it('returns 502 after one slow throttled call, and SNS takes nothing later, also when the function runs again', async () => {
  const { number, behave, send } = await practice()
  // A second and a third call would end after the function.
  behave(
    { delayMs: 3000, reply: 'throttle' },
    { delayMs: 6000, reply: 'throttle' },
    { delayMs: 6000, reply: 'accept' },
  )
  const response = await send()
  expect(response).toMatchObject({
    status: 502,
    headers: { 'retry-after': '5' },
    body: { error: 'PROVIDER_UNAVAILABLE' },
  })
  const other = await practice()
  expect((await other.send()).status).toBe(202)
  await sleep(AFTER_THE_FUNCTION_MS - response.ms)
  expect({ calls, taken }).toEqual({ calls: [number, other.number], taken: [other.number] })
})

it('returns 202 as queued at the deadline when SNS does not answer, and SNS takes nothing later', async () => {
  const { number, behave, send, log } = await practice()
  behave({ delayMs: 10_000, reply: 'accept' })
  const response = await send()
  expect([response.status, response.body.data.status]).toEqual([202, 'queued'])
  expect(response.ms).toBeGreaterThan(SMS_DEADLINE_MS - 100)
  expect(await log()).toMatchObject([{ status: 'queued', error_message: expect.stringMatching(/lost/) }])
  const other = await practice()
  expect((await other.send()).status).toBe(202)
  await sleep(AFTER_THE_FUNCTION_MS - response.ms)
  expect({ calls, taken }).toEqual({ calls: [number, other.number], taken: [other.number] })
})
