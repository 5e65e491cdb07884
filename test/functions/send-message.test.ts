/** POST /messages on the real engine, with SNS and SQS mocked: what is logged, sent and returned, and the daily limits. */
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { acceptMessage, type MessageRequest } from '../../shared/domain/messages/accept-message.ts'
import type { Patient } from '../../shared/domain/patients/patient.ts'
import { SCOPES, type Scope } from '../../shared/domain/scope.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { patientChanges } from '../../shared/store/copies/patient-changes.ts'
import { DUE_MESSAGE_PARTITIONS, messageQuotaKey } from '../../shared/store/keys/messages.ts'
import { messageAcceptance } from '../../shared/store/messages/acceptance.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { UNREQUESTED } from '../../shared/store/table/idempotency.ts'
import { issueCredential } from '../support/credentials.ts'
import { request, tableOfFunctions } from '../support/functions.ts'
import { interruptedTable } from '../support/intercepted-table.ts'
import { mockClient } from '../support/mock-client.ts'
import { aPatient, newClinic } from '../support/table.ts'

const sns = mockClient(SNSClient)
const sqs = mockClient(SQSClient)

const db = tableOfFunctions()
let clinic: Clinic
let patient: Patient
let headers: Record<string, string>

beforeEach(async () => {
  sns.reset()
  sqs.reset()
  sns.on(PublishCommand).resolves({ MessageId: 'sns-1' })
  sqs.on(SendMessageCommand).resolves({ MessageId: 'sqs-1' })
  clinic = await newClinic(db.table, { name: 'Praxis Nord' })
  await enter({})
  headers = (await issueCredential(db.table, clinic)).headers
})

const send = (body: object | string, more: Record<string, string> = {}) =>
  request('send-message', { body, headers: { ...headers, ...more } })

const sms = (more: object = {}) => ({
  channel: 'sms',
  patient_id: patient.id,
  message: 'See you at ten',
  ...more,
})
const email = (more: object = {}) => ({ ...sms(more), channel: 'email', ...more })

const enter = async (facts: Partial<Patient>) => {
  patient = aPatient(facts)
  await patientWriter(db).createMany(clinic.id, [patient])
}

const log = async () => (await messageStore(db).page(clinic.id, {}, { page: 1, limit: 100 })).items
const due = async () => {
  const read = DUE_MESSAGE_PARTITIONS.map((pk) => db.table.query({ pk, limit: 1000 }))
  return (await Promise.all(read)).flat().length
}
const KEY = { 'idempotency-key': 'k1' }
const failing = (name: string, status?: number, code?: string) =>
  Object.assign(new Error('no'), { name, code, $metadata: { httpStatusCode: status } })

describe('an SMS', () => {
  it('is sent to the patient’s number as transactional, and logged as sent', async () => {
    const before = await due()
    const response = await send(sms())
    expect(response).toMatchObject({
      status: 202,
      body: { data: { channel: 'sms', status: 'sent', recipient: patient.phoneNumber } },
    })
    expect(sns.commandCalls(PublishCommand).map(({ args }) => args[0].input)).toEqual([
      {
        PhoneNumber: patient.phoneNumber,
        Message: 'See you at ten',
        MessageAttributes: {
          'AWS.SNS.SMS.SMSType': { DataType: 'String', StringValue: 'Transactional' },
          'AWS.SNS.SMS.SenderID': { DataType: 'String', StringValue: 'Clinic' },
          'AWS.SNS.SMS.MaxPrice': { DataType: 'Number', StringValue: '0.50' },
        },
      },
    ])
    expect(await log()).toMatchObject([
      {
        id: response.body.data.id,
        channel: 'sms',
        type: 'manual',
        status: 'sent',
        subject: null,
        text: 'See you at ten',
        providerMessageId: 'sns-1',
        sentAt: expect.any(String),
        dispatch: null,
      },
    ])
    expect(await due()).toBe(before)
  })

  it('is counted and sent with its accents composed', async () => {
    const response = await send({ ...sms(), message: 'e\u0301'.repeat(1530) })
    expect(response.status).toBe(202)
    expect(sns.commandCalls(PublishCommand)[0]?.args[0].input.Message).toBe('é'.repeat(1530))
  })

  it('is logged and claimed before the provider is called', async () => {
    sns.on(PublishCommand).callsFake(async () => {
      expect(await log()).toMatchObject([{ status: 'queued' }])
      const [{ id }] = (await log()) as unknown as [{ id: string }]
      expect((await messageStore(db).find(clinic.id, id))?.record.dispatch).toMatchObject({
        claim: { token: expect.any(String) },
      })
      return { MessageId: 'sns-1' }
    })
    expect((await send(sms())).body.data.status).toBe('sent')
  })

  it('returns 502 at once when SNS throttles it, and frees the idempotency key', async () => {
    sns.on(PublishCommand).rejects(failing('ThrottledException', 429))
    expect(await send(sms(), KEY)).toMatchObject({
      status: 502,
      headers: { 'retry-after': '5' },
      body: { error: 'PROVIDER_UNAVAILABLE', message: 'errors.developer_api.provider_unavailable' },
    })
    expect(sns.commandCalls(PublishCommand).length).toBe(1)
    expect(await log()).toMatchObject([{ status: 'failed' }])
    sns.on(PublishCommand).resolves({ MessageId: 'sns-2' })
    expect(await send(sms(), KEY)).toMatchObject({ status: 202, body: { data: { status: 'sent' } } })
    expect((await log()).map(({ status }) => status)).toEqual(['sent', 'failed'])
  })

  it('is sent once and stays queued for a person when the reply is lost', async () => {
    sns.on(PublishCommand).rejects(failing('TimeoutError'))
    const first = await send(sms(), KEY)
    expect(first).toMatchObject({ status: 202, body: { data: { status: 'queued' } } })
    expect(await log()).toMatchObject([{ status: 'queued', providerMessageId: null }])
    const again = await send(sms(), KEY)
    expect(again.text).toBe(first.text)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(sns.commandCalls(PublishCommand).length).toBe(1)
  })

  it('returns 409 to repetitions while its claim lasts, then 202 as queued, and is never sent again', async () => {
    sns.on(PublishCommand).callsFake(() => new Promise(() => {}))
    void send(sms(), KEY)
    await vi.waitUntil(async () => (await log()).length === 1)
    const again = await send(sms(), KEY)
    expect(again).toMatchObject({ status: 409, body: { error: 'IDEMPOTENCY_IN_PROGRESS' } })
    vi.useFakeTimers({ now: Date.now() + 30_000, toFake: ['Date'] })
    try {
      const later = await send(sms(), KEY)
      expect(later).toMatchObject({ status: 202, body: { data: { status: 'queued' } } })
      expect(later.headers['idempotent-replayed']).toBe('true')
    } finally {
      vi.useRealTimers()
    }
    expect(sns.commandCalls(PublishCommand).length).toBe(1)
  })

  it('is sent once when requests under one key race', async () => {
    const responses = await Promise.all(Array.from({ length: 8 }, () => send(sms(), KEY)))
    expect(sns.commandCalls(PublishCommand).length).toBe(1)
    expect(responses.filter(({ status }) => status !== 202 && status !== 409)).toEqual([])
    const replayed = await send(sms(), KEY)
    expect(replayed.body.data.status).toBe('sent')
    expect((await log()).length).toBe(1)
  })
})

describe('an email', () => {
  it('is logged as queued, and queued with its ids only', async () => {
    const response = await send(email({ subject: 'Your appointment' }))
    const person = { id: patient.id, full_name: `${patient.firstName} ${patient.lastName}` }
    expect(response).toMatchObject({ status: 202 })
    expect(response.body).toEqual({
      data: { channel: 'email', recipient: patient.emailAddress, status: 'queued', patient: person },
    })
    const [entry] = await log()
    expect(entry).toMatchObject({
      status: 'queued',
      subject: 'Your appointment',
      sentAt: null,
      providerMessageId: null,
    })
    const bodies = sqs.commandCalls(SendMessageCommand).map(({ args }) => args[0].input.MessageBody ?? '')
    expect(bodies.map((body) => JSON.parse(body))).toEqual([
      { clinic: clinic.id, message: entry?.id, waits: 0, request: 'request-1' },
    ])
    expect(sns.commandCalls(PublishCommand).length).toBe(0)
  })

  it('gets the clinic’s name as its default subject', async () => {
    await send(email())
    expect(await log()).toMatchObject([{ subject: 'Praxis Nord' }])
    await send(email({ subject: null }))
    expect((await log()).map(({ subject }) => subject)).toEqual(['Praxis Nord', 'Praxis Nord'])
  })

  it('returns 202, stays due for the sweep and logs why when it cannot be queued', async () => {
    sqs.on(SendMessageCommand).rejects(new Error('down'))
    const before = await due()
    const response = await send(email())
    expect(response.status).toBe(202)
    expect(response.logged).toContain('"error":"email_not_queued","origin":{"name":"Error"')
    expect(await due()).toBe(before + 1)
  })
})

describe('the checks of a message', () => {
  const cases: [name: string, body: () => object, field: string][] = [
    ['no channel', () => ({ patient_id: patient.id, message: 'x' }), 'channel'],
    ['an unknown channel', () => sms({ channel: 'fax' }), 'channel'],
    ['no message', () => sms({ message: undefined }), 'message'],
    ['a blank message', () => email({ message: ' \n\t ' }), 'message'],
    ['1,531 septets', () => sms({ message: 'x'.repeat(1531) }), 'message'],
    ['631 units of UTF-16', () => sms({ message: 'ж'.repeat(631) }), 'message'],
    ['a lone surrogate in an SMS', () => sms({ message: 'a\ud800b' }), 'message'],
    ['a NUL in the text', () => email({ message: 'a\0b' }), 'message'],
    ['a subject on an SMS', () => sms({ subject: 'x' }), 'subject'],
    ['a header in a subject', () => email({ subject: 'Hello\r\nBcc: x@example.com' }), 'subject'],
    ['a malformed patient_id', () => sms({ patient_id: '1' }), 'patient_id'],
    ['an unknown field', () => sms({ to: '+905321234567' }), 'to'],
  ]
  it.each(cases)('returns 422 for %s', async (_name, body, field) => {
    const before = await due()
    expect(await send(body())).toMatchObject({
      status: 422,
      body: { error: 'VALIDATION', details: [{ field }] },
    })
    expect(await log()).toEqual([])
    expect(await due()).toBe(before)
    expect([...sns.commandCalls(PublishCommand), ...sqs.commandCalls(SendMessageCommand)]).toEqual([])
  })

  it('returns 422 when the patient has no phone number or email address', async () => {
    await enter({ phoneNumber: null, emailAddress: null })
    const unreachable = (message: string) => ({
      status: 422,
      body: { error: 'PATIENT_UNREACHABLE', message: `errors.developer_api.${message}` },
    })
    expect(await send(sms())).toMatchObject(unreachable('patient_has_no_phone'))
    expect(await send(email())).toMatchObject(unreachable('patient_has_no_email'))
    expect(await log()).toEqual([])
  })

  it('returns 422 by a channel that the patient has declined, from the next request on until it is accepted again', async () => {
    const path = { id: patient.id }
    const accept = (accepts_email: boolean) =>
      request('update-patient', { path, body: { accepts_email }, headers })
    await accept(false)
    const before = await due()
    expect(await send(email(), KEY)).toMatchObject({
      status: 422,
      body: { error: 'PATIENT_DECLINED_MESSAGES', message: 'errors.developer_api.patient_declined_messages' },
    })
    expect([await log(), await due(), sqs.commandCalls(SendMessageCommand)]).toEqual([[], before, []])
    await accept(true)
    expect((await send(email(), KEY)).status).toBe(202)
  })

  it('rejects a message whose patient declines after the request has read the record', async () => {
    const request: MessageRequest = {
      ...{ id: newUuid(), claimToken: '', patient: patient.id, subject: null },
      channel: 'email',
      ...{ clinicName: clinic.name, text: 'x', now: Date.now(), date: '2026-05-01' },
      defaultLimits: { smsPerDay: 9, emailsPerDay: 9, messagesPerRecipient: 9, smsCountries: [] },
    }
    const decline = () => patientChanges(db.table).update(clinic.id, patient.id, { acceptsEmail: false })
    const { accept } = messageAcceptance({ table: interruptedTable(db.table, decline) })
    const verdict = await accept(clinic.id, request, (facts) => acceptMessage(request, facts), UNREQUESTED)
    expect([verdict, await log()]).toEqual([{ kind: 'declined' }, []])
  })

  it('returns the same 404 for an unknown patient, another clinic’s patient and an erased one', async () => {
    const other = await newClinic(db.table)
    const theirs = aPatient()
    await patientWriter(db).createMany(other.id, [theirs])
    const erased = patient.id
    await patientChanges(db.table).erase(clinic.id, erased)
    const responses = []
    for (const patient_id of [theirs.id, newUuid(), erased]) {
      for (const channel of ['sms', 'email']) responses.push(await send(sms({ patient_id, channel })))
    }
    expect([...new Set(responses.map(({ status, text }) => `${status} ${text}`))]).toEqual([
      '404 {"error":"NOT_FOUND","message":"errors.developer_api.patient_not_found","details":[{"field":"patient_id"}]}',
    ])
    expect(sns.commandCalls(PublishCommand).length).toBe(0)
  })
})

describe('the scope of POST /messages', () => {
  const withScopes = async (...scopes: Scope[]) => {
    headers = (await issueCredential(db.table, clinic, scopes)).headers
  }
  const missing = (scope: string) => ({ status: 403, body: { details: [{ scope }] } })

  it('depends on the channel', async () => {
    await withScopes('communication.write.sms')
    expect((await send(sms())).status).toBe(202)
    expect(await send(email())).toMatchObject(missing('communication.write.email'))
    await withScopes('communication.write.email')
    expect((await send(email())).status).toBe(202)
    expect(await send(sms())).toMatchObject(missing('communication.write.sms'))
  })

  it('is checked before other fields of the body', async () => {
    await withScopes('communication.write.sms')
    expect(await send({ channel: 'email', nonsense: 1 })).toMatchObject(missing('communication.write.email'))
  })

  it('returns 403 without either scope whatever the body, and 422 for an unknown channel', async () => {
    await withScopes(...SCOPES.filter((scope) => !scope.startsWith('communication.write')))
    expect((await send('no json')).status).toBe(403)
    await withScopes('communication.write.sms')
    expect((await send(sms({ channel: 'fax' }))).status).toBe(422)
  })
})

it.each([
  ['sms', 'communication.write.sms'],
  ['email', 'communication.write.email'],
] as const)(
  'the location of an %s is the message, also when the request is repeated',
  async (channel, scope) => {
    const headersOf = async (only: Scope) => (await issueCredential(db.table, clinic, [only])).headers
    headers = await headersOf(scope)
    const [first, again] = [await send(sms({ channel }), KEY), await send(sms({ channel }), KEY)]
    expect([first.status, 'id' in first.body.data]).toEqual([202, channel === 'sms'])
    const location = String(first.headers.location)
    expect(again.headers).toMatchObject({ location, 'idempotent-replayed': 'true' })
    expect(again.text).toBe(first.text)

    const [, id = ''] = /^\/api\/developer\/v1\/messages\/(.+)$/.exec(location) ?? []
    for (const { accesses } of [first, again]) expect(accesses[0].records).toContain(id)
    const reading = { path: { id }, headers: await headersOf('communication.read.sms') }
    const read = await request('get-message', reading)
    expect([read.status, read.body.data]).toMatchObject([200, { id, channel, message: 'See you at ten' }])
  },
)

it('takes the same JSON with other white space for another body under an idempotency key', async () => {
  const body = JSON.stringify(sms())
  const { text } = await send(body, KEY)
  expect(await send(body, KEY)).toMatchObject({ text, headers: { 'idempotent-replayed': 'true' } })
  expect(await send(body.replace(',', ', '), KEY)).toMatchObject({
    status: 422,
    body: { message: 'errors.developer_api.idempotency_key_reused' },
  })
})

it('logs nothing of the message or the patient', async () => {
  const canary = 'CANARY-7351'
  await enter({ firstName: canary, emailAddress: `${canary}@example.com` })
  const message = `${canary} ${patient.id}`
  sns.on(PublishCommand).rejects(failing(canary, 400))
  const responses = [await send(sms({ message })), await send(email({ message, subject: canary }))]
  for (const { logged } of responses) {
    expect(logged).not.toMatch(new RegExp(`${canary}|${patient.id}|${patient.phoneNumber?.slice(1)}`))
  }
})

describe('the daily limits', () => {
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
    const responses = await Promise.all(Array.from({ length: 10 }, () => send(sms())))
    expect(responses.map(({ status }) => status).sort()).toEqual([
      ...Array(3).fill(202),
      ...Array(7).fill(429),
    ])
    expect(sns.commandCalls(PublishCommand).length).toBe(3)
  })
})
