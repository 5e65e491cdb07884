/** The `location` of an accepted message, whose body has no id if it is an email. On the real engine, with SNS and SQS mocked. */
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import type { Scope } from '../../shared/domain/scope.ts'
import { issueCredential } from '../support/credentials.ts'
import { call } from '../support/event.ts'
import { handlerOf, stubFunctionEnvironment } from '../support/functions.ts'
import { mockClient } from '../support/mock-client.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../support/records.ts'
import { tableOfFile } from '../support/table.ts'

const sns = mockClient(SNSClient)
const sqs = mockClient(SQSClient)
const PREFIX = '/api/developer/v1/messages/'

const db = tableOfFile()
let records: PopulatedClinic

beforeAll(async () => {
  stubFunctionEnvironment(db.name)
  records = await createPopulatedClinic(db.table)
})
beforeEach(() => {
  sns.reset()
  sqs.reset()
  sns.on(PublishCommand).resolves({ MessageId: 'sns-1' })
  sqs.on(SendMessageCommand).resolves({ MessageId: 'sqs-1' })
})

const headersOf = async (scopes: readonly Scope[]) =>
  (await issueCredential(db.table, records.clinic, scopes)).headers

it.each([
  ['sms', 'communication.write.sms'],
  ['email', 'communication.write.email'],
] as const)('of an %s names the message, also when the request is repeated', async (channel, scope) => {
  const headers = {
    ...(await headersOf([scope])),
    'content-type': 'application/json',
    'idempotency-key': 'k',
  }
  const body = JSON.stringify({ channel, patient_id: records.patient.id, message: `By ${channel}` })
  const send = async () => call(await handlerOf({ id: 'send-message' }), { method: 'POST', body, headers })
  const [first, again] = [await send(), await send()]
  expect([first.status, 'id' in first.body.data]).toEqual([202, channel === 'sms'])
  const location = String(first.headers.location)
  expect(location.startsWith(PREFIX)).toBe(true)
  expect(again.headers).toMatchObject({ location, 'idempotent-replayed': 'true' })
  expect(again.text).toBe(first.text)

  const id = location.slice(PREFIX.length)
  for (const { accesses } of [first, again]) expect(accesses[0].records).toContain(id)
  const reading = { path: { id }, headers: await headersOf(['communication.read.sms']) }
  const read = await call(await handlerOf({ id: 'get-message' }), reading)
  expect([read.status, read.body.data]).toMatchObject([200, { id, channel, message: `By ${channel}` }])
})
