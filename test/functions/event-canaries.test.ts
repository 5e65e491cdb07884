/**
 * Events of a clinic whose records are full of canaries, from the change to the receiver: no canary is sent, queued, stored
 * with an event, or logged. Endpoints, fan-out, consumer and sweep are the real functions, and the receiver is a server.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { APIGatewayProxyResult, SQSBatchResponse } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { announceImport } from '../../bin/clinic/import/run/import-with-progress.ts'
import { NEW_DOCTOR } from '../../shared/domain/booking/doctor.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import type { Message } from '../../shared/domain/messages/message.ts'
import type { Invoice } from '../../shared/domain/money/invoice.ts'
import type { Payment } from '../../shared/domain/money/payment.ts'
import { fullName } from '../../shared/domain/patients/patient.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { EVENTS } from '../../shared/domain/webhooks/event.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import type { RecordStore } from '../../shared/store/calendar/calendar-list.ts'
import { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../shared/store/calendar/payments.ts'
import { treatmentStore } from '../../shared/store/catalogue.ts'
import { patientChanges } from '../../shared/store/copies/patient-changes.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { holidayStore } from '../../shared/store/holidays.ts'
import { messageDispatch } from '../../shared/store/messages/dispatch.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import type { Item } from '../../shared/store/table/write-requests.ts'
import { allItems } from '../support/all-items.ts'
import { aTreatment } from '../support/catalogue.ts'
import { issueCredential } from '../support/credentials.ts'
import { createWebhook } from '../support/deliveries.ts'
import { createAcceptedEmail } from '../support/emails.ts'
import { apiEvent, lambdaContext } from '../support/event.ts'
import { handlerOf, stubFunctionEnvironment } from '../support/functions.ts'
import { mockClient } from '../support/mock-client.ts'
import { createRecord } from '../support/records.ts'
import { anAppointment, anInvoice, aPayment } from '../support/sample-records.ts'
import { aPatient, newClinic, tableOfFile } from '../support/table.ts'

/** Part of every text, number and amount of the records, and of the webhook endpoint's responses. */
const CANARY = 'CANARY-7351'
const PHONE = '905327351735'
const AMOUNT = 73_517_351_735
/** Matches every canary. */
const LEAKED = /CANARY|5327351735|73517351735/

const sqs = mockClient(SQSClient)
const sns = mockClient(SNSClient)

const db = tableOfFile()
let clinic: Clinic
let headers: Record<string, string>
let server: Server
let url: string

type Received = { url: string; headers: string; body: string }
const received: Received[] = []
/** The status of the next responses of the receiver. */
let status = 200
const lines: string[] = []
const responses: string[] = []

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    received.push({ url: request.url ?? '', headers: request.rawHeaders.join('\n'), body })
    response.writeHead(status, { 'x-told': CANARY, 'content-type': 'text/plain' }).end(`${CANARY} ${PHONE}`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  url = `http://127.0.0.1:${port}/hooks`
  stubFunctionEnvironment(db.name, { ALLOWED_WEBHOOK_HOST: `127.0.0.1:${port}` })
  clinic = await newClinic(db.table, { name: CANARY })
  headers = (await issueCredential(db.table, clinic)).headers
  sqs.on(SendMessageBatchCommand).resolves({})
  sqs.on(SendMessageCommand).resolves({})
  sns.on(PublishCommand).callsFake(async () => ({ MessageId: newUuid() }))
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    lines.push(String(text))
    return true
  })
})
afterAll(() => {
  vi.restoreAllMocks()
  server.close()
})

async function ask(id: string, method: string, body?: object, path: Record<string, string> = {}) {
  const act = (await handlerOf({ id })) as (event: object, context: object) => Promise<APIGatewayProxyResult>
  const sent = { method, path, ...(body && { body: JSON.stringify(body) }) }
  const event = apiEvent({ ...sent, headers: { ...headers, 'content-type': 'application/json' } })
  const response = await act(event, lambdaContext())
  expect(response.statusCode).toBeLessThan(300)
  return { text: response.body, body: JSON.parse(response.body) }
}

async function changed<R extends { readonly id: string }>(
  list: RecordStore<R>,
  id: string,
  facts: Partial<R>,
) {
  const stored = await list.find(clinic.id, id)
  if (!stored) throw new Error('no such record')
  const changes = new Changeset(db.table, clinic.id)
  list.change(changes, stored, { ...stored.record, ...facts })
  await changes.commit()
}

function canaryInvoice(patient: Invoice['patient'], createdAt: string): Invoice {
  const invoice = anInvoice({ id: newUuid(), number: `${CANARY} 2026-1`, total: AMOUNT, patient, createdAt })
  const doctor = { id: newUuid(), fullName: `Dr. ${CANARY}` }
  const lineItems = invoice.lineItems.map((item) => ({
    ...item,
    id: newUuid(),
    description: `${CANARY} appointment`,
    doctor,
    treatment: { id: newUuid(), name: CANARY },
  }))
  return { ...invoice, dueDate: '2026-06-04', appointmentId: newUuid(), doctor, lineItems }
}

const canaryPayment = (invoice: Invoice, patient: Payment['patient'], createdAt: string): Payment =>
  aPayment(invoice, {
    id: newUuid(),
    patient,
    amount: AMOUNT,
    description: `${CANARY} paid`,
    createdAt,
  })

/** Items of events and deliveries, by their families. */
const OF_EVENTS = /^due#|#(E|EH|WD|WS|WN)(#|$)/
const familyOf = ({ pk }: Item) => pk.split('#')[1] ?? ''

/** Causes every event of the catalogue, with records full of canaries. */
async function everything(): Promise<void> {
  const text = (what: string) => `${CANARY} ${what}`
  const patient = aPatient({
    firstName: text('Ada'),
    lastName: text('Kaya'),
    phoneNumber: `+${PHONE}`,
    emailAddress: `${CANARY}@example.com`,
    nationalId: CANARY,
    notes: text('notes'),
  })
  await patientWriter(db).createMany(clinic.id, [patient])
  await patientChanges(db.table).update(clinic.id, patient.id, { lastName: text('Demir') })
  const erased = aPatient({ firstName: text('Cem'), lastName: text('Kaya') })
  await patientWriter(db).createMany(clinic.id, [erased])
  await patientChanges(db.table).erase(clinic.id, erased.id)
  const hours = parseWeeklyHours('mon-fri 09:00-17:00')
  const doctor = { ...NEW_DOCTOR, id: newUuid(), fullName: text('Dr. Lind'), hours }
  await doctorStore(db).save(clinic.id, [{ before: null, after: doctor }])
  const [storedDoctor] = await doctorStore(db).list(clinic.id)
  const timeOff = [{ from: '2026-12-24', to: '2026-12-24', reason: text('surgery') }]
  await doctorStore(db).save(clinic.id, [{ before: storedDoctor ?? null, after: { ...doctor, timeOff } }])
  const treatment = aTreatment({ name: text('Check-up'), price: AMOUNT })
  await treatmentStore(db).save(clinic.id, [{ before: null, after: treatment }])
  const before = await treatmentStore(db).find(clinic.id, treatment.id)
  await treatmentStore(db).save(clinic.id, [{ before, after: { ...treatment, code: CANARY } }])
  await holidayStore(db).set(clinic.id, () => timeOff)
  const named = { id: patient.id, fullName: fullName(patient) }
  const createdAt = new Date().toISOString()
  const bookedWith = { id: doctor.id, fullName: doctor.fullName }
  const facts = { patient: named, doctor: bookedWith, notes: text('notes'), createdAt }
  for (const end of ['completed', 'cancelled', 'no_show'] as const) {
    const one = anAppointment({ id: newUuid(), ...facts })
    await createRecord(db.table, clinic, appointmentStore(db), one)
    await changed(appointmentStore(db), one.id, { notes: text('more') })
    await changed(appointmentStore(db), one.id, { confirmedAt: createdAt })
    await changed(appointmentStore(db), one.id, { checkedInAt: createdAt })
    await changed(appointmentStore(db), one.id, { status: end, cancellationReason: text('reason') })
  }
  const invoice = canaryInvoice({ ...named, email: patient.emailAddress }, createdAt)
  await createRecord(db.table, clinic, invoiceStore(db), invoice)
  await changed(invoiceStore(db), invoice.id, { number: text('2026-2') })
  await changed(invoiceStore(db), invoice.id, { status: 'paid', paid: AMOUNT, paidAt: createdAt })
  const payment = canaryPayment(invoice, named, createdAt)
  await createRecord(db.table, clinic, paymentStore(db), payment)
  const voided = { status: 'failed', voidedAt: createdAt, voidReason: text('mistyped') } as const
  await changed(paymentStore(db), payment.id, voided)
  const log = messageDispatch(db)
  for (const kind of ['delivered', 'failed'] as const) {
    for (const channel of ['email', 'sms'] as const) {
      const message = await createAcceptedEmail(db.table, clinic, patient, Date.now(), {
        channel,
        recipient: channel === 'sms' ? `+${PHONE}` : `${CANARY}@example.com`,
        subject: channel === 'sms' ? null : text('subject'),
        text: text('text'),
      } satisfies Partial<Message>)
      const at = new Date().toISOString()
      // A provider's id is left out: it is part of a separate key, for receipts.
      await log.recordFeedback(clinic.id, message.id, { kind: 'sent', at, providerMessageId: null })
      if (kind === 'failed')
        await log.recordFeedback(clinic.id, message.id, { kind, reason: text('bounced') })
      else await log.recordFeedback(clinic.id, message.id, { kind, at, providerMessageId: null })
    }
  }
  expect((await messageStore(db).page(clinic.id, {}, { page: 1, limit: 9 })).total).toBe(4)
  await announceImport(db.table, clinic.id, 'patients', { imported: 1, updated: 0, unchanged: 0 })
  // The same through the endpoints.
  const { body } = await ask('create-patient', 'POST', {
    first_name: text('Bo'),
    last_name: text('Lind'),
    phone_number: `+${PHONE}`,
    email_address: `${CANARY}@example.com`,
    national_id: CANARY,
    notes: text('notes'),
  })
  await ask(
    'update-patient',
    'PATCH',
    { national_id: `${CANARY}-2`, notes: text('more') },
    { id: body.data.id },
  )
  for (const id of ['deactivate-patient', 'activate-patient']) await ask(id, 'POST', {}, { id: body.data.id })
  await ask('create-appointment', 'POST', {
    patient_id: body.data.id,
    doctor_id: doctor.id,
    appointment_date: '2030-01-07',
    start_time: '09:00',
    notes: text('notes'),
  })
  for (const channel of ['sms', 'email'])
    await ask('send-message', 'POST', { channel, patient_id: body.data.id, message: text('message') })
}

type Pushed = { url: string; body: string; delayMs: number }

/** The deliveries pushed to the queues since the last call. */
function pushed(): Pushed[] {
  const all = sqs.commandCalls(SendMessageBatchCommand).flatMap(({ args }) => {
    const { QueueUrl = '', Entries = [] } = args[0].input
    return Entries.map(({ MessageBody: body = '', DelaySeconds = 0 }) => {
      return { url: QueueUrl, body, delayMs: DelaySeconds * 1000 }
    })
  })
  sqs.resetHistory()
  return all
}
const queued: Pushed[] = []

/** Invokes the consumer with batches of pushed deliveries, as Lambda does, until the queues are empty. */
async function deliver(): Promise<void> {
  const handler = (await handlerOf({ id: 'deliver-event' })) as (event: object) => Promise<SQSBatchResponse>
  let isEarly = false
  for (let all = pushed(); all.length > 0; all = pushed()) {
    queued.push(...all)
    // Deliveries with a delay arrive once at once, when the consumer puts them back, and then when they should.
    const delayMs = Math.min(...all.map((one) => one.delayMs))
    if (isEarly && delayMs > 0) vi.useFakeTimers({ now: Date.now() + delayMs, toFake: ['Date'] })
    isEarly = delayMs > 0 && !isEarly
    for (const [at, { url: queue, body }] of all.entries()) {
      const eventSourceARN = `arn:aws:sqs:us-east-1:0:clinic-dev-${queue.includes('slow') ? 'slow-' : ''}deliveries`
      await handler({ Records: [{ messageId: String(at), body, eventSourceARN }] })
    }
  }
  vi.useRealTimers()
}

/** Invokes the fan-out with all announced events, as the stream does. */
async function fanOut(): Promise<void> {
  const handler = (await handlerOf({ id: 'fan-out-events' })) as (event: object) => Promise<void>
  const Records = (await allItems(db))
    .filter(({ pk }) => pk.startsWith('due#event#'))
    .map(({ pk, sk }) => ({ eventName: 'INSERT', dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } }))
  expect(Records.length).toBeGreaterThan(0)
  await handler({ Records })
}

/** Expects no canary in items of events and deliveries, nor in the key of any item, since the stream carries keys. */
async function expectSilentTable(...families: string[]): Promise<void> {
  const items = await allItems(db)
  const ofEvents = items.filter(({ pk }) => OF_EVENTS.test(pk))
  expect([...new Set(ofEvents.map(familyOf))]).toEqual(expect.arrayContaining(families))
  expect(ofEvents.filter((item) => LEAKED.test(JSON.stringify(item)))).toEqual([])
  expect(items.filter(({ pk, sk }) => LEAKED.test(`${pk} ${sk}`))).toEqual([])
  // The pattern does find canaries where they belong.
  expect(items.filter((item) => LEAKED.test(JSON.stringify(item))).length).toBeGreaterThan(10)
}

describe('a clinic full of canaries', () => {
  it('announces events with ids only', async () => {
    await createWebhook(db.table, clinic.id, { url, description: CANARY, secret: `${CANARY}-secret-of-ours` })
    await everything()
    await expectSilentTable('event')
  })

  it('stores events and deliveries without canaries', async () => {
    await fanOut()
    await expectSilentTable('E', 'WD', 'delivery')
  })

  it('delivers every event of the catalogue without canaries', async () => {
    await deliver()
    const names = received.map(({ body }) => JSON.parse(body).event)
    expect([...new Set(names)].sort()).toEqual([...EVENTS].sort())
    expect(received.filter((one) => LEAKED.test(JSON.stringify(one)))).toEqual([])
    await expectSilentTable('E', 'WD')
  })

  it('stores nothing of a webhook endpoint’s response but its status', async () => {
    for (status of [500, 302, 404, 503]) {
      await patientChanges(db.table).update(clinic.id, await aPatientId(), {
        lastName: `${CANARY} ${status}`,
      })
      await fanOut()
      await deliver()
    }
    const items = await allItems(db)
    const statuses = items.flatMap(({ attempts = [] }) =>
      (attempts as { status: number }[]).map((one) => one.status),
    )
    expect([...new Set(statuses)].sort()).toEqual([200, 302, 404, 500, 503])
    await expectSilentTable('E', 'WD', 'WS')
  })

  it('stores no canaries when the sweep queues deliveries', async () => {
    status = 200
    vi.useFakeTimers({ now: Date.now() + 20 * 60_000, toFake: ['Date'] })
    try {
      const handler = (await handlerOf({ id: 'sweep-deliveries' })) as (event: object) => Promise<void>
      const before = received.length
      await handler({})
      await deliver()
      expect(received.length).toBeGreaterThan(before)
    } finally {
      vi.useRealTimers()
    }
    await expectSilentTable('E', 'WD')
  })

  it('logs no canaries when the store and the queues fail', async () => {
    const loud = () => Object.assign(new Error(`${CANARY} ${PHONE}`), { name: 'Loud', item: CANARY })
    const before = lines.length
    await patientChanges(db.table).update(clinic.id, await aPatientId(), { lastName: `${CANARY} again` })
    const announced = (await allItems(db)).filter(({ pk }) => pk.startsWith('due#event#'))
    const Records = announced.map(({ pk, sk }) => ({ dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } }))
    const fan = (await handlerOf({ id: 'fan-out-events' })) as (event: object) => Promise<void>
    const sweep = (await handlerOf({ id: 'sweep-events' })) as (event: object) => Promise<void>
    const due = (await handlerOf({ id: 'sweep-deliveries' })) as (event: object) => Promise<void>
    const consumer = (await handlerOf({ id: 'deliver-event' })) as (event: object) => Promise<unknown>
    const send = vi.spyOn(DynamoDBDocumentClient.prototype, 'send').mockRejectedValue(loud())
    const body = queued[0]?.body ?? ''
    const eventSourceARN = 'arn:aws:sqs:us-east-1:0:clinic-dev-deliveries'
    const errors = [
      await fan({ Records }).catch((error) => error),
      await sweep({}).catch((error) => error),
      await due({}).catch((error) => error),
      await consumer({
        Records: [body, CANARY, `{"${CANARY}":1}`].map((text, at) => ({
          messageId: String(at),
          body: text,
          eventSourceARN,
        })),
      }).catch((error) => error),
    ]
    send.mockRestore()
    sqs.on(SendMessageBatchCommand).rejects(loud())
    errors.push(await fan({ Records }).catch((error) => error))
    sqs.on(SendMessageBatchCommand).resolves({})
    expect(errors.map(({ message }) => message)).toEqual([
      'fan-out-events failed',
      'sweep-events failed',
      'sweep-deliveries failed',
      'deliver-event failed',
      'fan-out-events failed',
    ])
    for (const { stack } of errors) expect(stack).not.toMatch(LEAKED)
    expect(lines.length).toBe(before + 7)
  })

  it('returns no canaries from GET /events and the deliveries', async () => {
    const { body, text } = await ask('list-webhooks', 'GET')
    // The description is the integrator's own.
    expect(text).toContain(CANARY)
    responses.push((await ask('list-events', 'GET')).text)
    const [webhook] = body.data
    responses.push((await ask('list-deliveries', 'GET', undefined, { id: webhook.id })).text)
    responses.push((await ask('ping-webhook', 'POST', {}, { id: webhook.id })).text)
    const before = received.length
    await deliver()
    const events = received.slice(before).map(({ body }) => JSON.parse(body).event)
    expect(events).toContain('webhook.ping')
    expect(responses.join('').length).toBeGreaterThan(5000)
    expect(responses.join('')).not.toMatch(LEAKED)
  })

  it('sent, queued and logged no canaries in all of these tests', () => {
    expect(received.length).toBeGreaterThan(25)
    expect(received.filter((one) => LEAKED.test(JSON.stringify(one)))).toEqual([])
    expect(queued.length).toBeGreaterThan(25)
    expect(queued.filter(({ body }) => LEAKED.test(body))).toEqual([])
    for (const { body } of queued)
      expect(Object.keys(JSON.parse(body))).toEqual(['clinic', 'webhook', 'delivery'])
    expect(lines.length).toBeGreaterThan(5)
    expect(lines.filter((line) => LEAKED.test(line))).toEqual([])
  })
})

let known: string | undefined
/** The id of one of the clinic's patients. */
async function aPatientId(): Promise<string> {
  known ??= (await ask('list-patients', 'GET')).body.data[0].id as string
  return known
}
