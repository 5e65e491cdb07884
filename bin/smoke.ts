/**
 * `npm run smoke -- --url URL --credential KEY:SECRET`: books, reads, moves and cancels an appointment in a test clinic over HTTP, and
 * finds its events. If the clinic has an active webhook endpoint, also pings it. Has no dependencies, so that it runs without `npm ci`.
 * Exit codes: 0 if everything works, 1 if a step fails, 2 for wrong arguments or a clinic that is not a test clinic.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createClient } from '../shared/clients/typescript/client.ts'

/** How long events and deliveries may take. */
const MAX_WAIT_MS = 60_000

/** The patient of all runs, found by this external id. */
const PATIENT = { first_name: 'Smoke', last_name: 'Test', external_id: 'smoke-test' }

const USAGE = `usage: npm run smoke -- --url URL --credential KEY:SECRET, or with SMOKE_CREDENTIAL set

Needs a test clinic with a doctor who has two free times within two weeks, and a credential of it with the scopes patient.read,
patient.write, appointment.read, appointment.read.availability, appointment.write, webhook.read, and webhook.write if the clinic has
a webhook endpoint. URL is the
output BaseUrl of the stack.`

const EVENTS = ['appointment.created', 'appointment.updated', 'appointment.cancelled']

const { url, credential } = readArguments()
const clinic = createClient({ baseUrl: url, credential })

try {
  await checkTestClinic()
  await run()
  print('Everything works.')
} catch (error) {
  fail(1, error instanceof Error ? error.message : String(error))
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function fail(code: number, reason: string): never {
  process.stderr.write(`Failed: ${reason}\n`)
  process.exit(code)
}

/** The credential may be in the environment, where other users of the machine do not see it. */
function readArguments() {
  const { url, credential = process.env.SMOKE_CREDENTIAL, help } = parseOptions()
  if (help) {
    print(USAGE)
    process.exit(0)
  }
  if (!url || !credential) fail(2, USAGE)
  return { url, credential }
}

function parseOptions() {
  const text = { type: 'string' } as const
  try {
    return parseArgs({ options: { url: text, credential: text, help: { type: 'boolean' } } }).values
  } catch (error) {
    return fail(2, `${error instanceof Error ? error.message : error}\n${USAGE}`)
  }
}

async function checkTestClinic(): Promise<void> {
  const { data } = await clinic.me()
  if (!data.clinic.is_test) fail(2, 'the credential is not of a test clinic, so nothing was written.')
}

/** Prints how long a step took. A failure names the step. */
async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now()
  try {
    const result = await work()
    print(`${name}: ${Math.round(performance.now() - start)} ms`)
    return result
  } catch (error) {
    process.stderr.write(`${name} failed.\n`)
    throw error
  }
}

async function run(): Promise<void> {
  const cursor = await step('read the event log', lastCursor)
  const patient = await step('find or create the patient', findPatient)
  const [first, second] = await step('find free times', freeTimes)
  const booked = await step('book', () => clinic.appointments.book({ patient_id: patient, ...first }))
  const { id } = booked.data
  try {
    await step('read', () => clinic.appointments.get(id))
    await step('move', () => clinic.appointments.update(id, second))
  } finally {
    await step('cancel', () => clinic.appointments.cancel(id, {}))
  }
  await step('find the events', () => waitForEvents(id, cursor))
  await pingWebhook()
}

/** The end of the event log. */
async function lastCursor(): Promise<string | null> {
  let cursor: string | null = null
  for await (const { meta } of clinic.events.pages()) cursor = meta.next_after
  return cursor
}

async function findPatient(): Promise<string> {
  const { data } = await clinic.patients.list({ external_id: PATIENT.external_id })
  return data[0]?.id ?? (await clinic.patients.create(PATIENT)).data.id
}

type Time = { doctor_id: string; appointment_date: string; start_time: string }

/** Two free times of a doctor, from tomorrow on. */
async function freeTimes(): Promise<[Time, Time]> {
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  for await (const doctor of clinic.doctors.all()) {
    const range = { doctor_id: doctor.id, date: day(2), date_to: day(15), limit: 2 }
    const { data } = await clinic.availability.get(range)
    const [first, second] = data.map(({ date, start_time }) => ({
      doctor_id: doctor.id,
      appointment_date: date,
      start_time,
    }))
    if (first && second) return [first, second]
  }
  throw new Error('no doctor of the test clinic has two free times within two weeks.')
}

async function waitForEvents(appointment: string, cursor: string | null): Promise<void> {
  const missing = new Set(EVENTS)
  await waitUntil(`the events ${[...missing].join(', ')}`, async () => {
    for await (const { event, data } of clinic.events.all({ ...(cursor !== null && { after: cursor }) }))
      if ('id' in data && data.id === appointment) missing.delete(event)
    return missing.size === 0
  })
}

/** Waits for the delivery of a ping to the first active webhook endpoint. */
async function pingWebhook(): Promise<void> {
  for await (const { id, is_active } of clinic.webhooks.all())
    if (is_active)
      return step('deliver a ping', async () => {
        const { data: ping } = await clinic.webhooks.ping(id)
        await waitUntil('the delivery of the ping', async () => {
          const { data } = await clinic.webhooks.deliveries(id).list()
          return data.some((delivery) => delivery.id === ping.id && delivery.status === 'delivered')
        })
      })
  print('The clinic has no active webhook endpoint, so none was pinged.')
}

async function waitUntil(what: string, isDone: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + MAX_WAIT_MS; Date.now() < end; await sleep(500)) if (await isDone()) return
  throw new Error(`${what} did not arrive within ${MAX_WAIT_MS / 1000} s.`)
}
