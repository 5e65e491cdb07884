/** Conditions on the running stack, and the alarms that their figures turn on. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { callSqs } from '../../infra/local/engines/queues.ts'
import type { AlarmState } from '../../infra/local/metrics/alarm-states.ts'
import { REPEATED_REFUSALS } from '../../shared/http/authenticate.ts'
import { claimedDispatch, MINUTE, storeMessage } from '../bin/clinic/message-fixtures.ts'
import { issueCredential } from '../support/credentials.ts'
import { get, post, type RunningStack, runStack } from '../support/local-stack.ts'
import { newClinic } from '../support/table.ts'

/** Nothing listens there. */
const DEAD_RECEIVER = '127.0.0.1:9'

let stack: RunningStack
let pair: string
/** What the functions have logged. */
const lines: Record<string, unknown>[] = []
let clinic: Awaited<ReturnType<typeof newClinic>>

beforeAll(async () => {
  stack = await runStack({
    demo: false,
    allowedWebhookHost: DEAD_RECEIVER,
    functionLog: (text) => {
      for (const line of text.split('\n')) if (line.startsWith('{')) lines.push(JSON.parse(line))
    },
  })
  clinic = await newClinic(stack.table)
  const { key, secret } = await issueCredential(stack.table, clinic)
  pair = `${key}:${secret}`
}, 60_000)
afterAll(() => stack?.close())

const alarm = async (id: string, now?: number): Promise<AlarmState | undefined> =>
  (await stack.alarms(now)).find(({ name }) => name === `clinic-developer-api-dev-${id}`)

/** Waits until the alarm is on; a busy machine takes long. */
const turnsOn = (id: string) =>
  vi.waitFor(async () => expect(await alarm(id)).toMatchObject({ state: 'ALARM' }), {
    timeout: 20_000,
    interval: 100,
  })

const sqs = (action: string, output: string, input: object) =>
  callSqs(stack.endpoints.sqs, action, { QueueUrl: stack.outputs[output], ...input })

const invoke = async (id: string) => {
  const [, found] = [...stack.functions()].find(([name]) => name.includes(id.replaceAll('-', ''))) ?? []
  expect(await found?.invoke('{}')).toMatchObject({ ok: true })
}

it('all are off when nothing has happened', async () => {
  const states = await stack.alarms()
  expect(states.filter(({ state }) => state === 'ALARM')).toEqual([])
  expect(states.filter(({ state }) => state === 'OK').length).toBeGreaterThan(15)
  expect(await (await fetch(`${stack.baseUrl}/_local/alarms`)).json()).toHaveLength(states.length)
})

it('dead-emails is on when a message cannot be processed', async () => {
  // Lambda would receive it again only after minutes.
  await sqs('SetQueueAttributes', 'EmailQueueUrl', { Attributes: { VisibilityTimeout: '0' } })
  await sqs('SendMessage', 'EmailQueueUrl', { MessageBody: 'poison' })
  await turnsOn('dead-emails')
})

it('feedback-waiting is on when a message is still in its queue after half an hour', async () => {
  await sqs('SendMessage', 'FeedbackQueueUrl', { MessageBody: '{}' })
  const now = Date.now()
  expect(await alarm('feedback-waiting', now + 30 * MINUTE)).toMatchObject({ state: 'OK' })
  const late = await alarm('feedback-waiting', now + 45 * MINUTE)
  expect(late).toMatchObject({ state: 'ALARM', threshold: 1800 })
})

it('deliveries-failing is on when receivers cannot be reached', async () => {
  for (let at = 0; at < 20; at++) {
    const webhook = { url: `http://${DEAD_RECEIVER}/${at}`, events: ['patient.created'] }
    expect((await post(stack, '/webhooks', webhook, { pair })).status).toBe(201)
  }
  const patient = { first_name: 'Ada', last_name: 'Lang', email_address: 'ada@example.com' }
  const created = await post(stack, '/patients', patient, { pair })
  expect(created.status).toBe(201)
  await turnsOn('deliveries-failing')
  const attempts = lines.filter(({ worker }) => worker === 'deliver-event')
  expect(new Set(attempts.map(({ request_id }) => request_id))).toEqual(
    new Set([created.headers['x-request-id']]),
  )
})

it('lines of an email have the id of the request that created it', async () => {
  const found = await get(stack, '/patients', pair)
  const message = { patient_id: found.body.data[0].id, channel: 'email', message: 'Hello' }
  const accepted = await post(stack, '/messages', message, { pair })
  expect(accepted.status).toBe(202)
  await vi.waitFor(
    () =>
      expect(lines.filter(({ worker }) => worker === 'send-email')).toContainEqual(
        expect.objectContaining({ request_id: accepted.headers['x-request-id'], outcome: 'accepted' }),
      ),
    { timeout: 20_000, interval: 100 },
  )
})

it('message-unresolved is on when the process that sent an SMS has crashed', async () => {
  const dispatch = claimedDispatch(Date.now() - MINUTE, Date.now() - MINUTE)
  await storeMessage(stack.table, clinic, {
    channel: 'sms',
    subject: null,
    recipient: '+12015550123',
    dispatch,
  })
  expect(await alarm('message-unresolved')).toMatchObject({ state: 'OK' })
  await invoke('sweep-messages')
  await turnsOn('message-unresolved')
})

it('key-refused is on when one key gets one 401 after the other', async () => {
  for (let at = 1; at < REPEATED_REFUSALS; at++)
    expect((await get(stack, '/doctors', `${pair}-wrong`)).status).toBe(401)
  expect(await alarm('key-refused')).toMatchObject({ state: 'OK' })
  expect((await get(stack, '/doctors', `${pair}-wrong`)).status).toBe(401)
  await turnsOn('key-refused')
})

it('sweep-events-stopped is on ten minutes after its last run', async () => {
  expect(await alarm('sweep-events-stopped', Date.now() + 16 * MINUTE)).toMatchObject({ state: 'ALARM' })
})
