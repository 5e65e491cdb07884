/** The consumer behind a queue like the stack's, on the real engines, with SES mocked and a clock that the tests move. */
import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import type { Message } from '../../../shared/domain/messages/message.ts'
import type { Patient } from '../../../shared/domain/patients/patient.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { setPaused } from '../../../shared/store/clinic-pause.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { patientChanges } from '../../../shared/store/copies/patient-changes.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import { patientWriter } from '../../../shared/store/patients/patient-writer.ts'
import { createAcceptedEmail } from '../../support/emails.ts'
import { stubFunctionEnvironment } from '../../support/functions.ts'
import { mockClient } from '../../support/mock-client.ts'
import { rounds } from '../../support/scale.ts'
import { stackQueues } from '../../support/stack-queues.ts'
import { aPatient, newClinic, tableOfFile } from '../../support/table.ts'

const ses = mockClient(SESv2Client)
const START = Date.parse('2026-05-04T08:00:00Z')
/** The number of receives in infra/messaging/queues.ts. */
const RECEIVES = 5
const VISIBILITY_MS = 450_000

const db = tableOfFile()
let queues: Awaited<ReturnType<typeof stackQueues>>
let queue: ReturnType<typeof queues.queue>
let dead: ReturnType<typeof queues.queue>
let sendEmail: (event: SQSEvent) => Promise<SQSBatchResponse>
let sweep: () => Promise<unknown>
let clinic: Clinic
let patient: Patient

beforeAll(async () => {
  queues = await stackQueues()
  queue = queues.queue('emails')
  dead = queues.queue('emails-dead')
  stubFunctionEnvironment(db.name, { EMAIL_QUEUE_URL: queue.url, AWS_ENDPOINT_URL_SQS: queues.endpoint })
  const name = (file: string) => import(`../../../functions/workers/${file}.ts`)
  sendEmail = (await name('send-email')).handler
  const { handler } = await name('sweep-messages')
  sweep = () => handler({})
})
afterAll(() => queues.stop())

beforeEach(async () => {
  vi.useFakeTimers({ now: START, toFake: ['Date'] })
  // Log lines have tests of their own.
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  ses.reset()
  ses.on(SendEmailCommand).callsFake(async () => ({ MessageId: `ses-${newUuid()}` }))
  clinic = await newClinic(db.table, { name: 'Praxis Nord' })
  patient = aPatient()
  await patientWriter(db).createMany(clinic.id, [patient])
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const accepted = (facts: Partial<Message> = {}) =>
  createAcceptedEmail(db.table, clinic, patient, Date.now(), facts)
const bodyOf = ({ id }: { id: string }) => JSON.stringify({ clinic: clinic.id, message: id, waits: 0 })
const entry = async ({ id }: { id: string }) => (await messageStore(db).find(clinic.id, id))?.record
const sentTo = () =>
  ses.commandCalls(SendEmailCommand).map(({ args }) => {
    const tags = args[0].input.EmailTags ?? []
    return tags.find(({ Name }) => Name === 'message')?.Value
  })

/** Delivers from the queue for `ms`, moving the clock by `step`. The sweep runs every minute. */
async function run(ms: number, step = 5000): Promise<void> {
  const end = Date.now() + ms
  for (let steps = 0; Date.now() < end; steps++) {
    while ((await queue.deliverBatch(sendEmail)) > 0);
    vi.setSystemTime(Date.now() + step)
    if ((steps * step) % 60_000 === 0) await sweep()
  }
}

it('sends an email with its configuration set and tags, and records it as sent', async () => {
  const message = await accepted({ subject: 'Termin', text: 'Bis bald' })
  await queue.push(bodyOf(message))
  await queue.deliverBatch(sendEmail)
  expect(ses.commandCalls(SendEmailCommand).map(({ args }) => args[0].input)).toMatchObject([
    {
      FromEmailAddress: '"Praxis Nord" <clinic@example.com>',
      Destination: { ToAddresses: [patient.emailAddress] },
      Content: { Simple: { Subject: { Data: 'Termin' }, Body: { Text: { Data: 'Bis bald' } } } },
      ConfigurationSetName: 'mail',
      EmailTags: [{ Value: clinic.id }, { Value: message.id }],
    },
  ])
  expect(await entry(message)).toMatchObject({
    status: 'sent',
    sentAt: new Date(START).toISOString(),
    providerMessageId: expect.stringMatching(/^ses-/),
    dispatch: null,
  })
  expect(await queue.size()).toBe(0)
})

it('sends an email under the clinic’s own sender’s name, with its address for replies', async () => {
  await clinicStore(db).update(clinic.id, { emailFromName: 'Dr. Ada Kaya', replyTo: 'desk@praxis.example' })
  const message = await accepted()
  await queue.push(bodyOf(message))
  await queue.deliverBatch(sendEmail)
  expect(ses.commandCalls(SendEmailCommand).map(({ args }) => args[0].input)).toMatchObject([
    { FromEmailAddress: '"Dr. Ada Kaya" <clinic@example.com>', ReplyToAddresses: ['desk@praxis.example'] },
  ])
})

it('sends an email that was never queued, once it is due after two minutes', async () => {
  const message = await accepted()
  await run(110_000)
  expect(sentTo()).toEqual([])
  await run(70_000)
  expect(sentTo()).toEqual([message.id])
})

it('holds the emails of a paused clinic, sends emails of others, and sends each once after the pause', async () => {
  const other = await newClinic(db.table)
  const elsewhere = await createAcceptedEmail(db.table, other, patient, Date.now())
  await setPaused(db.table, clinic.id, new Date(START).toISOString())
  const [queued, lost] = [await accepted(), await accepted()]
  await queue.push(bodyOf(queued))
  await run(30 * 60_000, 60_000)
  expect(sentTo()).toEqual([elsewhere.id])
  // Due since the pause held it.
  expect(await entry(queued)).toMatchObject({ status: 'queued', dispatch: { dueAt: START, claim: null } })
  await setPaused(db.table, clinic.id, null)
  await run(300_000, 60_000)
  expect(sentTo().toSorted()).toEqual([elsewhere.id, queued.id, lost.id].toSorted())
})

it('sends an email that a sweep had queued before the pause within two minutes of its end, once', async () => {
  // The older it is, the later the sweep checks again that it was not lost.
  const message = await accepted({ acceptedAt: new Date(START - 50 * 60_000).toISOString() })
  vi.setSystemTime(START + 130_000)
  await sweep()
  expect(await queue.size()).toBe(1)
  await setPaused(db.table, clinic.id, new Date().toISOString())
  await run(60_000, 60_000)
  expect([await queue.size(), sentTo()]).toEqual([0, []])
  await setPaused(db.table, clinic.id, null)
  await run(120_000, 60_000)
  expect(sentTo()).toEqual([message.id])
  await run(90 * 60_000, 10 * 60_000)
  expect(sentTo()).toEqual([message.id])
})

it('drops an email whose clinic was deleted', async () => {
  const message = { id: newUuid() }
  await queue.push(JSON.stringify({ clinic: newUuid(), message: message.id, waits: 0 }))
  await queue.deliverBatch(sendEmail)
  expect([await queue.size(), await dead.size(), sentTo()]).toEqual([0, 0, []])
})

it('records a failure without a retry when SES rejects the email', async () => {
  ses
    .on(SendEmailCommand)
    .rejects(
      Object.assign(new Error('no'), { name: 'BadRequestException', $metadata: { httpStatusCode: 400 } }),
    )
  const message = await accepted()
  await queue.push(bodyOf(message))
  await run(300_000)
  expect(await entry(message)).toMatchObject({
    status: 'failed',
    errorMessage: 'The provider rejected it: BadRequestException',
  })
  expect(sentTo().length).toBe(1)
})

it('sends nothing when the patient has been erased', async () => {
  const message = await accepted()
  await patientChanges(db.table).erase(clinic.id, patient.id)
  await queue.push(bodyOf(message))
  await queue.deliverBatch(sendEmail)
  expect(sentTo()).toEqual([])
  expect(await entry(message)).toMatchObject({ status: 'failed', recipient: 'erased', text: '' })
})

it('leaves an email to a person when the reply of SES is lost', async () => {
  ses.on(SendEmailCommand).rejects(Object.assign(new Error('hang up'), { code: 'ECONNRESET' }))
  const message = await accepted()
  await queue.push(bodyOf(message))
  await run(1_200_000, 10_000)
  expect(sentTo().length).toBe(1)
  expect(await entry(message)).toMatchObject({
    status: 'queued',
    errorMessage: "The provider's response was lost: the message may have been sent",
    dispatch: { isUnresolved: true },
  })
  expect([await queue.size(), await dead.size()]).toEqual([0, 0])
})

const THROTTLED = { name: 'TooManyRequestsException', $metadata: { httpStatusCode: 429 } }

it('sends the whole backlog, without dead letters, after SES has throttled for ten minutes', async () => {
  const up = Date.now() + 600_000
  ses.on(SendEmailCommand).callsFake(async () => {
    if (Date.now() < up) throw Object.assign(new Error('no'), THROTTLED)
    return { MessageId: 'ses-1' }
  })
  const messages = []
  for (let n = 0; n < rounds(6, 120); n++) messages.push(await accepted())
  for (const message of messages) await queue.push(bodyOf(message))
  await run(600_000, rounds(30_000, 15_000))
  // The longest delay of a retry is fifteen minutes.
  await run(900_000, rounds(30_000, 15_000))
  const states = await Promise.all(messages.map(entry))
  expect(new Set(states.map((state) => state?.status))).toEqual(new Set(['sent']))
  expect([await queue.size(), await dead.size()]).toEqual([0, 0])
})

it('records a failure when an email could not be sent for a day', async () => {
  ses.on(SendEmailCommand).rejects(Object.assign(new Error('no'), THROTTLED))
  const message = await accepted({ acceptedAt: new Date(START - 22 * 3_600_000).toISOString() })
  await queue.push(bodyOf(message))
  await run(90 * 60_000, 300_000)
  expect(await entry(message)).toMatchObject({ status: 'queued' })
  await run(2.5 * 3_600_000, 300_000)
  expect(await entry(message)).toMatchObject({
    status: 'failed',
    errorMessage: 'Not sent: the provider was unavailable for a day',
  })
  expect([await queue.size(), await dead.size()]).toEqual([0, 0])
})

it('moves a message whose email does not exist to the dead letters after the configured receives', async () => {
  const body = bodyOf({ id: newUuid() })
  await queue.push(body)
  for (let receive = 0; receive <= RECEIVES; receive++) {
    expect(await dead.size()).toBe(0)
    await queue.deliverBatch(sendEmail)
    vi.setSystemTime(Date.now() + VISIBILITY_MS + 1000)
  }
  expect(await dead.bodies()).toEqual([body])
  await dead.purge()
})
