/** The daily limits of POST /messages, on the real engine with SNS and SQS mocked. */
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import type { Clinic } from '../../shared/domain/clinic.ts'
import type { Patient } from '../../shared/domain/patients/patient.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { messageQuotaKey } from '../../shared/store/keys/messages.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { issueCredential } from '../support/credentials.ts'
import { call } from '../support/event.ts'
import { handlerOf, stubFunctionEnvironment } from '../support/functions.ts'
import { mockClient } from '../support/mock-client.ts'
import { aPatient, newClinic, tableOfFile } from '../support/table.ts'

const sns = mockClient(SNSClient)
const sqs = mockClient(SQSClient)

const db = tableOfFile()
let clinic: Clinic
let patient: Patient
let headers: Record<string, string>

beforeAll(async () => {
  stubFunctionEnvironment(db.name)
})

beforeEach(async () => {
  sns.reset()
  sqs.reset()
  sns.on(PublishCommand).resolves({ MessageId: 'sns-1' })
  sqs.on(SendMessageCommand).resolves({ MessageId: 'sqs-1' })
  clinic = await newClinic(db.table, { name: 'Praxis Nord' })
  patient = aPatient()
  await patientWriter(db).createMany(clinic.id, [patient])
  headers = (await issueCredential(db.table, clinic)).headers
})

const send = async (body: object | string, more: Record<string, string> = {}) =>
  call(await handlerOf({ id: 'send-message' }), {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { ...headers, 'content-type': 'application/json', ...more },
  })

const sms = (more: object = {}) => ({
  channel: 'sms',
  patient_id: patient.id,
  message: 'See you at ten',
  ...more,
})
const email = (more: object = {}) => ({ ...sms(more), channel: 'email', ...more })

const log = async () => (await messageStore(db).page(clinic.id, {}, { page: 1, limit: 100 })).items
const failing = (name: string, status?: number) =>
  Object.assign(new Error('no'), { name, $metadata: { httpStatusCode: status } })

const enter = async (facts: Partial<Patient>) => {
  patient = aPatient(facts)
  await patientWriter(db).createMany(clinic.id, [patient])
}

it('returns 429 until the clinic’s midnight when the daily limit of the channel is reached', async () => {
  await clinicStore(db).update(clinic.id, { smsPerDay: 2, emailsPerDay: 1 })
  const statuses = []
  for (const body of [sms(), sms(), sms(), email(), email()]) statuses.push((await send(body)).status)
  expect(statuses).toEqual([202, 202, 429, 202, 429])
  const over = await send(sms())
  expect(over.body).toEqual({ error: 'RATE_LIMITED', message: 'errors.developer_api.daily_message_limit' })
  const seconds = Number(over.headers['retry-after'])
  const there = new Date(Date.now() + seconds * 1000).toLocaleTimeString('en-GB', {
    timeZone: clinic.timezone,
  })
  expect(there).toMatch(/^00:00:0\d$/)
  expect((await log()).length).toBe(3)
})

it('counts an SMS that was not sent neither for the day nor for its recipient', async () => {
  await clinicStore(db).update(clinic.id, { smsPerDay: 3, messagesPerRecipient: 3 })
  sns.on(PublishCommand).rejects(failing('ThrottledException', 429))
  const throttled = [await send(sms()), await send(sms()), await send(sms())]
  expect(throttled.map(({ status }) => status)).toEqual([502, 502, 502])
  sns.on(PublishCommand).resolves({ MessageId: 'sns-2' })
  const statuses = []
  for (let n = 0; n < 4; n++) statuses.push((await send(sms())).status)
  expect(statuses).toEqual([202, 202, 202, 429])
})

it('counts an SMS that was rejected, or whose reply was lost', async () => {
  await clinicStore(db).update(clinic.id, { smsPerDay: 2 })
  sns
    .on(PublishCommand)
    .rejectsOnce(failing('InvalidParameterException', 400))
    .rejects(failing('TimeoutError'))
  const statuses = []
  for (let n = 0; n < 3; n++) statuses.push((await send(sms())).status)
  expect(statuses).toEqual([202, 202, 429])
})

it('returns 429 until the clinic’s midnight above the limit of a recipient, whichever patient has the number', async () => {
  await clinicStore(db).update(clinic.id, { messagesPerRecipient: 2 })
  const { phoneNumber, emailAddress } = patient
  const first = [await send(sms()), await send(email())]
  await enter({ phoneNumber, emailAddress: emailAddress?.toUpperCase() ?? null })
  const then = [await send(sms()), await send(email()), await send(sms()), await send(email())]
  expect([...first, ...then].map(({ status }) => status)).toEqual([202, 202, 202, 202, 429, 429])
  expect(then[2]?.body).toEqual({
    error: 'RATE_LIMITED',
    message: 'errors.developer_api.recipient_message_limit',
  })
  expect(Number(then[2]?.headers['retry-after'])).toBeGreaterThan(0)
  await enter({})
  expect((await send(sms())).status).toBe(202)
  expect((await log()).length).toBe(5)
})

it('returns 429 above the limit of a recipient when requests race', async () => {
  await clinicStore(db).update(clinic.id, { messagesPerRecipient: 3 })
  const answers = await Promise.all(Array.from({ length: 10 }, () => send(sms())))
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(3).fill(202), ...Array(7).fill(429)])
  expect(sns.commandCalls(PublishCommand).length).toBe(3)
})

it('stores no count under a recipient that could be read from it', async () => {
  await send(sms())
  await send(email())
  const counts = await db.table.query({ pk: messageQuotaKey(clinic.id, '').pk, limit: 100 })
  expect(counts.length).toBe(3)
  expect(JSON.stringify(counts)).not.toMatch(
    new RegExp(`${patient.phoneNumber?.slice(1)}|${patient.emailAddress}`, 'i'),
  )
  const other = await newClinic(db.table)
  await patientWriter(db).createMany(other.id, [patient])
  headers = (await issueCredential(db.table, other)).headers
  await send(sms())
  const others = await db.table.query({ pk: messageQuotaKey(other.id, '').pk, limit: 100 })
  const sortKeys = new Set(counts.map(({ sk }) => sk))
  // Only the count of the day has the same sort key: recipients are hashed with a secret of each clinic.
  expect(others.filter(({ sk }) => sortKeys.has(sk)).length).toBe(1)
})

it('returns 429 above the daily limit when requests race', async () => {
  await clinicStore(db).update(clinic.id, { smsPerDay: 3 })
  const answers = await Promise.all(Array.from({ length: 10 }, () => send(sms())))
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(3).fill(202), ...Array(7).fill(429)])
  expect(sns.commandCalls(PublishCommand).length).toBe(3)
})
