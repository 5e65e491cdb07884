import { gzipSync } from 'node:zlib'
import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2'
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { ROUTES } from '../../shared/api/routes.ts'
import type { LineItem } from '../../shared/domain/invoice.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { WORKERS } from '../../shared/runtime/workers.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../shared/store/calendar/payments.ts'
import { patientChanges } from '../../shared/store/copies/patient-changes.ts'
import { deliveryAttempts } from '../../shared/store/events/delivery-attempts.ts'
import { eventFanOut } from '../../shared/store/events/fan-out.ts'
import { CREDENTIAL_PARTITION_PREFIX } from '../../shared/store/keys/clinics.ts'
import { DUE_PARTITION_PREFIX } from '../../shared/store/keys/due.ts'
import { ANNOUNCED_PARTITION_PREFIX, announcedKey } from '../../shared/store/keys/events.ts'
import { dueMessageKey, PROVIDER_PARTITION_PREFIX } from '../../shared/store/keys/messages.ts'
import { dueDeliveryKey } from '../../shared/store/keys/webhooks.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import { MAX_CREATED, patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../shared/store/patients/patients.ts'
import { chunked, type Table, withoutEvents } from '../../shared/store/table/table.ts'
import { issueCredential } from '../support/credentials.ts'
import { createWebhook } from '../support/deliveries.ts'
import { call, type RequestInput } from '../support/event.ts'
import { handlerOf, stubFunctionEnvironment } from '../support/functions.ts'
import {
  createPopulatedClinic,
  createRecord,
  createWebhookWithDeliveries,
  type PopulatedClinic,
  type WebhookWithDeliveries,
} from '../support/records.ts'
import { aPatient, freshTable } from '../support/table.ts'
import { grantsOf, logicalIdAt, type Statement, templateOf } from '../support/template.ts'

/**
 * `credential GetItem`, `clinic Query`: a DynamoDB call by the kind of partition it touches; `sns:Publish`: a call of
 * another service, of SQS by its queue; `over all clinics`: whether what is due, or what providers call by their own ids, is
 * touched at all; `announced events` are due too, but written by whoever writes records.
 */
type Use =
  | `${'credential' | 'clinic'} ${string}`
  | `${string}:${string}`
  | 'over all clinics'
  | 'announced events'

const template = templateOf('dev')
const sns = mockClient(SNSClient)
const sqs = mockClient(SQSClient)
const ses = mockClient(SESv2Client)
let headers: Record<string, string>
let mine: PopulatedClinic
let endpoint: WebhookWithDeliveries
let spare: string
let table: Table

/** Queues by the variable that tells functions of them. */
const QUEUES: Record<string, string> = {
  EMAIL_QUEUE_URL: 'Messaging/Emails',
  DELIVERY_QUEUE_URL: 'Events/Deliveries',
  SLOW_DELIVERY_QUEUE_URL: 'Events/SlowDeliveries',
}

beforeAll(async () => {
  const fresh = await freshTable()
  table = fresh.table
  stubFunctionEnvironment(fresh.name)
  mine = await createPopulatedClinic(table)
  // Long enough that their rows are thin, and the lists must read the records.
  const notes = 'long '.repeat(200)
  await createRecord(table, mine.clinic, appointmentStore({ table }), {
    ...mine.appointment,
    id: newUuid(),
    notes,
  })
  const item = mine.invoice.lineItems[0] as LineItem
  await createRecord(table, mine.clinic, invoiceStore({ table }), {
    ...mine.invoice,
    id: newUuid(),
    lineItems: Array(10).fill(item),
  })
  await createRecord(table, mine.clinic, paymentStore({ table }), {
    ...mine.payment,
    id: newUuid(),
    description: notes.slice(0, 500),
  })
  // So many entered, and a change logged before the last snapshot: the next patient is due for one, and clears the log.
  endpoint = await createWebhookWithDeliveries(table, mine.clinic)
  const entry = patientWriter({ table: withoutEvents(table) })
  const { clinic, patient } = mine
  const [before] = (await patientStore({ table }).findMany(clinic.id, [patient.id])).values()
  if (before) await entry.update(clinic.id, [{ before, after: { ...before, gender: 'other' } }])
  await entry.snapshot(clinic.id)
  for (const chunk of chunked(
    Array.from({ length: 520 }, () => aPatient()),
    MAX_CREATED,
  ))
    await entry.createMany(clinic.id, chunk)
  headers = (await issueCredential(table, clinic)).headers
  spare = (await createWebhook(table, clinic.id)).id
})

beforeEach(() => {
  for (const mock of [sns, sqs, ses]) mock.reset()
  sns.on(PublishCommand).callsFake(async () => ({ MessageId: newUuid() }))
  sqs.on(SendMessageCommand).resolves({ MessageId: 'sqs-1' })
  sqs.on(SendMessageBatchCommand).resolves({})
  ses.on(SendEmailCommand).callsFake(async () => ({ MessageId: newUuid() }))
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Being fed by the table's stream. */
const STREAM = /^dynamodb:(ListStreams|DescribeStream|GetRecords|GetShardIterator)$/

/** What a statement lets code call; writing logs, using the key and being fed are the platform's. */
function granted(statements: Statement[]): Use[] {
  return statements.flatMap(({ Action, Condition, Resource }) => {
    const actions = [Action].flat()
    const calls = actions.filter((action) => action.startsWith('dynamodb:') && !STREAM.test(action))
    const kind = Condition && 'ForAllValues:StringLike' in Condition ? 'credential' : 'clinic'
    const reaches = (partition: string) => {
      const patterns = [...JSON.stringify(Condition ?? {}).matchAll(/"([^"]*)\*"/g)].map(
        ([, prefix = '']) => prefix,
      )
      return calls.length > 0 && kind === 'clinic' && !patterns.some((prefix) => partition.startsWith(prefix))
    }
    return [
      ...calls.map((action): Use => `${kind} ${action.replace('dynamodb:', '')}`),
      ...actions.filter((action): action is Use => /^(sns:|ses:)/.test(action)),
      ...actions.flatMap((action): Use[] =>
        action.startsWith('sqs:Send') ? [`${action as 'sqs:'} ${queueAt(Resource)}`] : [],
      ),
      ...(reaches(`${DUE_PARTITION_PREFIX}message#0`) ? (['over all clinics'] as const) : []),
      ...(reaches(`${ANNOUNCED_PARTITION_PREFIX}0`) ? (['announced events'] as const) : []),
    ]
  })
}

function queueAt(resource: unknown): string {
  const [id] = (resource as { 'Fn::GetAtt': [string, string] })['Fn::GetAtt']
  return Object.values(QUEUES).find((path) => logicalIdAt(template, path) === id) ?? id
}

/** Once each and in order. Whoever may write may announce events, whether or not it makes any. */
const inUse = (uses: Use[], used: readonly Use[]): Use[] =>
  [...new Set(uses)].filter((use) => use !== 'announced events' || used.includes(use)).sort()

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
const requests = (): Record<string, Omit<RequestInput, 'method'>[]> => ({
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
  // One that is new, and one that came before.
  'create-webhook': [1, 2].map(() => ({
    headers: { ...json, 'idempotency-key': 'k' },
    body: '{"url":"https://example.com/","events":["patient.created"]}',
  })),
  // Switched on, its past is forgotten.
  'update-webhook': [
    { path: { id: endpoint.webhook.id }, headers: json, body: '{"is_active":true,"description":"Ours"}' },
  ],
  'delete-webhook': [{ path: { id: spare } }],
  'rotate-webhook-secret': [{ path: { id: endpoint.webhook.id } }],
  'ping-webhook': [{ path: { id: endpoint.webhook.id } }],
  'list-deliveries': [{ path: { id: endpoint.webhook.id } }],
  redeliver: [{ path: { id: endpoint.webhook.id, delivery_id: endpoint.deliveries[0].id } }],
  'list-events': [{}, { query: { event: 'patient.created' } }],
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
    const text = JSON.stringify(part)
    const touches = (prefix: string) => text.includes(`"${prefix}`)
    const kind = touches(CREDENTIAL_PARTITION_PREFIX) ? 'credential' : 'clinic'
    const isOverAll =
      text.replaceAll(`"${ANNOUNCED_PARTITION_PREFIX}`, '').includes(`"${DUE_PARTITION_PREFIX}`) ||
      touches(PROVIDER_PARTITION_PREFIX)
    return [
      `${kind} ${action}`,
      ...(isOverAll ? (['over all clinics'] as const) : []),
      ...(touches(ANNOUNCED_PARTITION_PREFIX) ? (['announced events'] as const) : []),
    ]
  })
}

/** What `act` calls, of DynamoDB and of the providers, once each and in order. */
async function usedBy(act: () => Promise<void>): Promise<Use[]> {
  const send = vi.spyOn(DynamoDBDocumentClient.prototype, 'send')
  const before = [sns, sqs, ses].map((mock) => mock.calls().length)
  await act()
  const uses = send.mock.calls.flatMap(([command]) => usesOf(command as Command))
  send.mockRestore()
  const [published, pushed, mailed] = [sns, sqs, ses].map((mock, at) =>
    mock
      .calls()
      .slice(before[at])
      .map(({ args }) => (args[0] as unknown as Command).input),
  )
  const queues = Object.entries(QUEUES).filter(([variable]) =>
    pushed?.some((input) => (input as { QueueUrl?: string }).QueueUrl === process.env[variable]),
  )
  const called: Use[] = [
    ...(published?.length ? (['sns:Publish'] as const) : []),
    ...(mailed?.length ? (['ses:SendEmail'] as const) : []),
    // A batch needs the grant of one.
    ...queues.map(([, path]): Use => `sqs:SendMessage ${path}`),
  ]
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
    expect(used).toEqual(inUse(granted(grantsOf(template, id)), used))
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
  Records: bodies.map((body, at) => ({
    messageId: String(at),
    body: JSON.stringify(body),
    attributes: {},
    eventSourceARN: 'arn:aws:sqs:us-east-1:0:Deliveries',
  })),
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
const starts: Record<string, () => Promise<[event: object, answer: unknown]>> = {
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
  'fan-out-events': async () => {
    const { clinic, patient } = mine
    await changed()
    const { pk, sk } = announcedKey(clinic.id, patient.id, 1)
    return [{ Records: [{ dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } }] }, undefined]
  },
  // One to an address that is none, and one that waits for somebody who is at an earlier one of its record.
  'deliver-event': async () => {
    const nowhere = await createWebhook(table, mine.clinic.id, { url: 'https://localhost/' })
    const behind = await createWebhook(table, mine.clinic.id, { url: 'https://localhost/' })
    await changed()
    await changed()
    const made = await fannedOut()
    const [first] = made.filter(({ webhook }) => webhook === nowhere.id)
    const [earlier, later] = made.filter(({ webhook }) => webhook === behind.id)
    if (!first || !earlier || !later) throw new Error('no deliveries were made')
    const attempts = deliveryAttempts({ table })
    const context = await attempts.readContext(mine.clinic.id, behind.id, earlier.delivery)
    if (context) await attempts.claim(mine.clinic.id, context, { token: 't', until: Date.now() + 40_000 })
    return [batch([first, later]), { batchItemFailures: [] }]
  },
  // An announced event, one that failed once, and a due time of nothing.
  'sweep-events': async () => {
    await changed()
    const { clinic } = mine
    const ids = { clinic: clinic.id, webhook: newUuid(), id: newUuid() }
    await table.transact([table.putWrite(dueDeliveryKey({ ...ids, at: Date.now() }))])
    later(10 * 60_000)
    return [{}, undefined]
  },
}

let changes = 0
/** Something happens to a patient. */
const changed = () =>
  patientChanges(table).update(mine.clinic.id, mine.patient.id, { lastName: `Kaya${changes++}` })

async function fannedOut() {
  const all: { clinic: string; webhook: string; delivery: string }[] = []
  await eventFanOut({ table, now: Date.now, newId: newUuid }).fanOut(
    mine.clinic.id,
    async (made) => void all.push(...made),
  )
  return all
}

it.each(WORKERS.map(({ id }) => id))(
  '%s uses every grant it has, and has every grant it uses',
  async (id) => {
    const start = starts[id]
    if (!start) throw new Error(`${id} has no event here that makes it use every grant`)
    const [event, answer] = await start()
    const handler = (await handlerOf({ id })) as (event: object) => Promise<unknown>
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const used = await usedBy(async () => expect(await handler(event)).toEqual(answer))
    write.mockRestore()
    expect(used).toEqual(inUse(granted(grantsOf(template, id)), used))
  },
)

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
