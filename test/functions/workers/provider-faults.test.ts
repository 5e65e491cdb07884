/** What becomes of messages when the account of the providers, or the table, is at fault, with the real clients, queue and local providers. */
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type Providers, startProviders } from '../../../infra/local/providers/server.ts'
import { logsEvent, type SmsReceipt } from '../../../infra/local/providers/sms-receipts.ts'
import { ALARMS } from '../../../infra/monitoring/alarm-table.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import type { Message } from '../../../shared/domain/messages/message.ts'
import type { Patient } from '../../../shared/domain/patients/patient.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import { patientWriter } from '../../../shared/store/patients/patient-writer.ts'
import { issueCredential } from '../../support/credentials.ts'
import { createAcceptedEmail } from '../../support/emails.ts'
import { handlerOf, request, stubFunctionEnvironment } from '../../support/functions.ts'
import { stackQueues } from '../../support/stack-queues.ts'
import { aPatient, newClinic, tableOfFile } from '../../support/table.ts'

const START = Date.parse('2026-05-04T08:00:00Z')
const MINUTE_MS = 60_000

const db = tableOfFile()
let providers: Providers
let queues: Awaited<ReturnType<typeof stackQueues>>
let clinic: Clinic
let patient: Patient
let lines: Record<string, unknown>[]

beforeAll(async () => {
  queues = await stackQueues()
  providers = await startProviders({ region: 'us-east-1', log: () => {}, feedbackDelays: { sms: 1 } })
  stubFunctionEnvironment(db.name, {
    EMAIL_QUEUE_URL: queues.queue('emails').url,
    AWS_ENDPOINT_URL_SQS: queues.endpoint,
    AWS_ENDPOINT_URL_SESV2: providers.endpoint,
    AWS_ENDPOINT_URL_SNS: providers.endpoint,
  })
})
afterAll(() => Promise.all([queues?.stop(), providers?.stop()]))

beforeEach(async () => {
  vi.useFakeTimers({ now: START, toFake: ['Date'] })
  lines = []
  captureLines()
  clinic = await newClinic(db.table)
  patient = aPatient()
  await patientWriter(db).createMany(clinic.id, [patient])
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

function captureLines(): void {
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(JSON.parse(String(line))) > 0)
}

/** The values of a metric in the lines that functions wrote, without its further dimensions. */
const valuesOf = (metric: string) => lines.flatMap((line) => (metric in line ? [Number(line[metric])] : []))

/** Delivers the queue of emails every few minutes. */
async function deliverEmails(minutes: number): Promise<void> {
  const sendEmail = (await handlerOf({ id: 'send-email' })) as (event: SQSEvent) => Promise<SQSBatchResponse>
  for (const end = Date.now() + minutes * MINUTE_MS; Date.now() < end; ) {
    while ((await queues.queue('emails').deliverBatch(sendEmail)) > 0);
    vi.setSystemTime(Date.now() + 5 * MINUTE_MS)
  }
}

it('keeps the emails of a sender that is not verified, raises the alarm, and sends each once when it is', async () => {
  const { above = 0 } = ALARMS.find(({ id }) => id === 'emails-waiting') ?? {}
  const messages: Message[] = []
  for (let n = 0; n < 3; n++) messages.push(await createAcceptedEmail(db.table, clinic, patient, START))
  for (const { id } of messages)
    await queues.queue('emails').push(JSON.stringify({ clinic: clinic.id, message: id, waits: 0 }))
  const statuses = async () => {
    const stored = await Promise.all(messages.map(({ id }) => messageStore(db).find(clinic.id, id)))
    return stored.map((one) => one?.record.status)
  }

  providers.setFaults({ isSenderUnverified: true })
  await deliverEmails(25)
  expect(Math.max(...valuesOf('email_wait_ms')) / 1000).toBeLessThan(above)
  await deliverEmails(25)
  expect(await statuses()).toEqual(['queued', 'queued', 'queued'])
  expect(await providers.emails()).toEqual([])
  expect(Math.max(...valuesOf('email_wait_ms')) / 1000).toBeGreaterThan(above)
  expect(lines).toContainEqual(
    expect.objectContaining({ reason: 'The provider did not accept it: MessageRejected' }),
  )
  expect(JSON.stringify(lines)).not.toContain('@')

  providers.setFaults({})
  await deliverEmails(20)
  expect(await statuses()).toEqual(['sent', 'sent', 'sent'])
  expect((await providers.emails()).length).toBe(3)
})

it('raises the alarm while the table does not respond to the sender of emails, and logs the error', async () => {
  const { above = 0 } = ALARMS.find(({ id }) => id === 'emails-waiting') ?? {}
  const { id } = await createAcceptedEmail(db.table, clinic, patient, START)
  await queues.queue('emails').push(JSON.stringify({ clinic: clinic.id, message: id, waits: 0 }))
  const error = Object.assign(new Error('down'), { name: 'TimeoutError' })
  const table = vi.spyOn(db.client.constructor.prototype, 'send').mockRejectedValue(error)
  await deliverEmails(25)
  expect(Math.max(...valuesOf('email_wait_ms')) / 1000).toBeLessThan(above)
  await deliverEmails(35)
  expect(Math.max(...valuesOf('email_wait_ms')) / 1000).toBeGreaterThan(above)
  expect(lines).toContainEqual(expect.objectContaining({ worker: 'send-email', error: 'table_unavailable' }))
  table.mockRestore()
  await deliverEmails(20)
  expect((await messageStore(db).find(clinic.id, id))?.record.status).toBe('sent')
})

it('counts an email whose response is lost as unresolved', async () => {
  const { id } = await createAcceptedEmail(db.table, clinic, patient, START, {
    recipient: 'lost-reply@test.example',
  })
  await queues.queue('emails').push(JSON.stringify({ clinic: clinic.id, message: id, waits: 0 }))
  await deliverEmails(5)
  expect(valuesOf('message_unresolved')).toEqual([1])
})

it('reports the SMS that SNS accepts and drops beyond the spending limit by their receipts', async () => {
  const { headers } = await issueCredential(db.table, clinic)
  const receipts: SmsReceipt[] = []
  providers.setListener({ email: async () => {}, sms: async (receipt) => receipts.push(receipt) })
  providers.setFaults({ smsQuota: 1 })
  const send = async () =>
    request('send-message', {
      headers,
      body: { channel: 'sms', patient_id: patient.id, message: 'See you at ten' },
    })
  const responses = []
  for (let n = 0; n < 6; n++) responses.push(await send())
  // The call of a function restores the output.
  captureLines()
  for (const { logged } of responses)
    lines.push(
      ...logged
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    )
  expect(responses.map(({ body }) => body.data.status)).toEqual(responses.map(() => 'sent'))
  expect(providers.sms().length).toBe(1)
  await vi.waitFor(() => expect(receipts.length).toBe(responses.length))
  const reader = (await handlerOf({ id: 'sms-receipts' })) as (event: object) => Promise<void>
  for (const receipt of receipts)
    await reader(JSON.parse(logsEvent({ logGroup: 'sns', filterName: 'Receipts' }, receipt)))
  const stored = await Promise.all(
    responses.map(({ body }) => messageStore(db).find(clinic.id, body.data.id)),
  )
  expect(stored.map((one) => [one?.record.status, one?.record.errorMessage])).toEqual([
    ['delivered', null],
    ...Array.from({ length: 5 }, () => ['failed', 'Not delivered: No quota left for account']),
  ])
  const { above = 100 } = ALARMS.find(({ id }) => id === 'sms-failing') ?? {}
  const countOf = (status: string) =>
    lines.filter((line) => 'message_status' in line && line.status === status).length
  const [failed, sent, delivered] = ['failed', 'sent', 'delivered'].map(countOf) as [number, number, number]
  expect(failed).toBeGreaterThanOrEqual(5)
  expect((100 * failed) / (failed + Math.max(sent, delivered))).toBeGreaterThan(above)
})
