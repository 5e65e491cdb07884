import { gzipSync } from 'node:zlib'
import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2'
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { MESSAGE_WORKERS } from '../../infra/messaging.ts'
import { ROUTES } from '../../shared/api/routes.ts'
import type { LineItem } from '../../shared/domain/invoice.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { appointmentStore } from '../../shared/store/appointments.ts'
import { invoiceStore } from '../../shared/store/invoices.ts'
import {
  CREDENTIAL_PARTITIONS,
  DUE_PARTITIONS,
  dueMessageKey,
  PROVIDER_PARTITIONS,
} from '../../shared/store/keys.ts'
import { messageStore } from '../../shared/store/messages.ts'
import { MOST_ENTERED, patientEntry } from '../../shared/store/patient-entry.ts'
import { patientStore } from '../../shared/store/patients.ts'
import { paymentStore } from '../../shared/store/payments.ts'
import { chunked, type Table } from '../../shared/store/table.ts'
import { issued } from '../support/credentials.ts'
import { call, type Sent } from '../support/event.ts'
import { functionEnvironment, handlerOf } from '../support/functions.ts'
import { create, type Populated, populated } from '../support/records.ts'
import { aPatient, freshTable } from '../support/table.ts'
import { grantsOf, type Statement, templateOf } from '../support/template.ts'

/**
 * `credential GetItem`, `clinic Query`: a DynamoDB call by the kind of partition it touches; `sns:Publish`: a call of
 * another service; `over all clinics`: whether what is due, or what providers call by their own ids, is touched at all.
 */
type Use = `${'credential' | 'clinic'} ${string}` | `${string}:${string}` | 'over all clinics'

const template = templateOf('dev')
const sns = mockClient(SNSClient)
const sqs = mockClient(SQSClient)
const ses = mockClient(SESv2Client)
let headers: Record<string, string>
let mine: Populated
let table: Table

beforeAll(async () => {
  const fresh = await freshTable()
  table = fresh.table
  functionEnvironment(fresh.name)
  mine = await populated(table)
  // Long enough that their rows are thin, and the lists must read the records.
  const notes = 'long '.repeat(200)
  await create(table, mine.clinic, appointmentStore({ table }), { ...mine.appointment, id: newUuid(), notes })
  const item = mine.invoice.lineItems[0] as LineItem
  await create(table, mine.clinic, invoiceStore({ table }), {
    ...mine.invoice,
    id: newUuid(),
    lineItems: Array(10).fill(item),
  })
  await create(table, mine.clinic, paymentStore({ table }), {
    ...mine.payment,
    id: newUuid(),
    description: notes.slice(0, 500),
  })
  // So many entered, and a change logged before the last snapshot: the next patient is due for one, and clears the log.
  const entry = patientEntry({ table })
  const { clinic, patient } = mine
  const [before] = (await patientStore({ table }).findMany(clinic.id, [patient.id])).values()
  if (before) await entry.update(clinic.id, [{ before, after: { ...before, gender: 'other' } }])
  await entry.snapshot(clinic.id)
  for (const chunk of chunked(
    Array.from({ length: 520 }, () => aPatient()),
    MOST_ENTERED,
  ))
    await entry.enter(clinic.id, chunk)
  headers = (await issued(table, clinic)).headers
})

beforeEach(() => {
  for (const mock of [sns, sqs, ses]) mock.reset()
  sns.on(PublishCommand).callsFake(async () => ({ MessageId: newUuid() }))
  sqs.on(SendMessageCommand).resolves({ MessageId: 'sqs-1' })
  ses.on(SendEmailCommand).callsFake(async () => ({ MessageId: newUuid() }))
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** What a statement lets code call; writing logs, using the key and being fed by a queue are the platform's. */
function granted(statements: Statement[]): Use[] {
  return statements.flatMap(({ Action, Condition }) => {
    const actions = [Action].flat()
    const calls = actions.filter((action) => action.startsWith('dynamodb:'))
    const kind = Condition && 'ForAllValues:StringLike' in Condition ? 'credential' : 'clinic'
    const isOverAll = calls.length > 0 && kind === 'clinic' && !JSON.stringify(Condition).includes('due#')
    return [
      ...calls.map((action): Use => `${kind} ${action.replace('dynamodb:', '')}`),
      ...actions.filter((action): action is Use => /^(sns:|ses:|sqs:Send)/.test(action)),
      ...(isOverAll ? (['over all clinics'] as const) : []),
    ]
  })
}

const ACTIONS: Record<string, string> = {
  BatchGetCommand: 'BatchGetItem',
  BatchWriteCommand: 'BatchWriteItem',
  QueryCommand: 'Query',
  GetCommand: 'GetItem',
  UpdateCommand: 'UpdateItem',
}

/** Each item of a transaction needs the grant of its own kind. */
const TRANSACTION: Record<string, string> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
}

const json = { 'content-type': 'application/json' }

/** What each endpoint is asked in order to make every kind of call it can. */
const requests = (): Record<string, Omit<Sent, 'method'>[]> => ({
  'list-patients': [{}, { query: { search: mine.patient.lastName } }],
  'get-patient': [{ path: { id: mine.patient.id } }],
  'get-invoice': [{ path: { id: mine.invoice.id } }],
  'get-availability': [{ query: { doctor_id: mine.doctor.id, date: '2030-01-07' } }],
  'create-patient': [{ headers: json, body: '{"first_name":"Ada","last_name":"Kaya"}' }],
  // The second one finds the time taken, and looks for others.
  'create-appointment': ['2030-01-07', '2030-01-07'].map((appointment_date) => ({
    headers: json,
    body: JSON.stringify({
      patient_id: mine.patient.id,
      doctor_id: mine.doctor.id,
      appointment_date,
      start_time: '09:00',
    }),
  })),
  'send-message': ['sms', 'email'].map((channel) => ({
    headers: { ...json, 'idempotency-key': channel },
    body: JSON.stringify({ channel, patient_id: mine.patient.id, message: 'See you at ten' }),
  })),
})

type Command = { constructor: { name: string }; input: object }

function usesOf(command: Command): Use[] {
  const items = (command.input as { TransactItems?: object[] }).TransactItems
  const calls = items
    ? items.flatMap((item) => Object.entries(item).map(([name, part]) => [TRANSACTION[name], part] as const))
    : [[ACTIONS[command.constructor.name], command.input] as const]
  return calls.flatMap(([action, part]): Use[] => {
    const touches = (prefix: string) => JSON.stringify(part).includes(`"${prefix}`)
    const kind = touches(CREDENTIAL_PARTITIONS) ? 'credential' : 'clinic'
    const isOverAll = touches(DUE_PARTITIONS) || touches(PROVIDER_PARTITIONS)
    return [`${kind} ${action}`, ...(isOverAll ? (['over all clinics'] as const) : [])]
  })
}

/** What `act` calls, of DynamoDB and of the providers, once each and in order. */
async function usedBy(act: () => Promise<void>): Promise<Use[]> {
  const send = vi.spyOn(DynamoDBDocumentClient.prototype, 'send')
  const before = [sns, sqs, ses].map((mock) => mock.calls().length)
  await act()
  const uses = send.mock.calls.flatMap(([command]) => usesOf(command as Command))
  send.mockRestore()
  const services: Use[] = ['sns:Publish', 'sqs:SendMessage', 'ses:SendEmail']
  const called = services.filter((_, at) => [sns, sqs, ses][at]?.calls().length !== before[at])
  return [...new Set([...uses, ...called])].sort()
}

it.each(ROUTES.map((route) => [route.id, route] as const))(
  '%s uses every grant it has, and has every grant it uses',
  async (id, route) => {
    const used = await usedBy(async () => {
      for (const { headers: more, ...sent } of requests()[id] ?? [{}]) {
        const { status } = await call(await handlerOf(route), {
          method: route.method,
          ...sent,
          headers: { ...headers, ...more },
        })
        expect(status === 409 || status < 300).toBe(true)
      }
    })
    expect(used).toEqual(granted(grantsOf(template, id)).sort())
  },
)

/** Accepts a message over the endpoint, and says its id. */
async function accepted(channel: 'sms' | 'email'): Promise<string> {
  const body = JSON.stringify({ channel, patient_id: mine.patient.id, message: 'See you at ten' })
  const sent = { method: 'POST', body, headers: { ...headers, ...json } }
  expect((await call(await handlerOf({ id: 'send-message' }), sent)).status).toBe(202)
  const { items } = await messageStore({ table }).page(mine.clinic.id, {}, { page: 1, limit: 1 })
  return items[0]?.id ?? ''
}

const batch = (bodies: object[]) => ({
  Records: bodies.map((body, at) => ({ messageId: String(at), body: JSON.stringify(body), attributes: {} })),
})

const queued = (message: string) => ({ clinic: mine.clinic.id, message, waits: 0 })

const feedback = (event: string, message: string) => ({
  event,
  clinic: [mine.clinic.id],
  message: [message],
  provider_message_id: newUuid(),
  at: new Date().toISOString(),
  detail: [],
})

const receiptsOf = (ids: string[]) => {
  const logEvents = ids.map((messageId) => ({
    timestamp: Date.now(),
    message: JSON.stringify({
      notification: { messageId, timestamp: '2026-05-01 07:00:00.000' },
      delivery: { destination: '+905320000001' },
      status: 'SUCCESS',
    }),
  }))
  return { awslogs: { data: gzipSync(JSON.stringify({ logEvents })).toString('base64') } }
}

const later = (ms: number) => vi.useFakeTimers({ now: Date.now() + ms, toFake: ['Date'] })

/** What each worker is started with in order to make every kind of call it can, and what it must answer. */
const events: Record<(typeof MESSAGE_WORKERS)[number], () => Promise<[event: object, answer: unknown]>> = {
  // One that SES takes, and one that it does not take for now.
  'send-email': async () => {
    const bodies = [queued(await accepted('email')), queued(await accepted('email'))]
    const paused = Object.assign(new Error('no'), {
      name: 'SendingPausedException',
      $metadata: { httpStatusCode: 400 },
    })
    ses.on(SendEmailCommand).resolvesOnce({ MessageId: 'ses-1' }).rejects(paused)
    return [batch(bodies), { batchItemFailures: [] }]
  },
  // What SES says overtakes the note of who handed it over.
  'email-feedback': async () => {
    const id = await accepted('email')
    const bodies = [feedback('Delivery', id), feedback('Bounce', newUuid())]
    return [batch(bodies), { batchItemFailures: [] }]
  },
  'sms-receipts': async () => {
    sns.on(PublishCommand).resolves({ MessageId: 'sns-1' })
    await accepted('sms')
    return [receiptsOf(['sns-1']), undefined]
  },
  // One to be queued again, one whose sender ended without a word, and a due time of nothing.
  'sweep-messages': async () => {
    await accepted('email')
    sns.on(PublishCommand).rejects(new Error('reset'))
    const { clinic } = mine
    await accepted('sms')
    await table.transact([
      table.putWrite(dueMessageKey({ clinic: clinic.id, id: newUuid(), at: Date.now() })),
    ])
    later(10 * 60_000)
    return [{}, undefined]
  },
}

it.each(MESSAGE_WORKERS)('%s uses every grant it has, and has every grant it uses', async (id) => {
  const [event, answer] = await events[id]()
  const handler = (await handlerOf({ id })) as (event: object) => Promise<unknown>
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const used = await usedBy(async () => expect(await handler(event)).toEqual(answer))
  write.mockRestore()
  expect(used).toEqual(granted(grantsOf(template, id)).sort())
})

it('publishes to phones only, pushes to the one queue, and mails from the one address', async () => {
  await accepted('sms')
  const id = await accepted('email')
  const handler = (await handlerOf({ id: 'send-email' })) as (event: object) => Promise<unknown>
  await handler(batch([queued(id)]))
  const inputs = (mock: typeof sns | typeof sqs | typeof ses) =>
    mock.calls().map(({ args }) => (args[0] as Command).input)
  expect(inputs(sns)).toEqual([
    expect.objectContaining({ PhoneNumber: mine.patient.phoneNumber, MessageAttributes: expect.anything() }),
  ])
  expect(inputs(sns).flatMap(Object.keys)).not.toContain('TopicArn')
  expect(inputs(sns).flatMap(Object.keys)).not.toContain('TargetArn')
  expect(inputs(sqs)).toEqual([
    { QueueUrl: process.env.EMAIL_QUEUE_URL, MessageBody: JSON.stringify(queued(id)) },
  ])
  expect(inputs(ses)).toEqual([
    expect.objectContaining({
      FromEmailAddress: expect.stringMatching(/(^| <)clinic@example\.com>?$/),
      ConfigurationSetName: 'mail',
    }),
  ])
})
