/** Dead letters are counted, read, moved back to their queue and discarded, against the running stack. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { callSqs } from '../../infra/local/engines/queues.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import type { Message } from '../../shared/domain/message.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import { storeMessage, waitingDispatch } from '../bin/clinic/message-fixtures.ts'
import { type RunningStack, runClinicTool, runStack } from '../support/local-stack.ts'
import { newClinic } from '../support/table.ts'

let stack: RunningStack
let clinic: Clinic

beforeAll(async () => {
  stack = await runStack({ demo: false })
  clinic = await newClinic(stack.table)
})
afterAll(() => stack.close())

const tool = (...args: string[]) => runClinicTool(stack, ...args)
const find = async ({ id }: Message) => (await messageStore(stack).find(clinic.id, id))?.record

const sqs = <Output>(action: string, output: string, input: object = {}) =>
  callSqs<Output>(stack.endpoints.sqs, action, { QueueUrl: stack.outputs[output], ...input })
const bury = (message: string) =>
  sqs('SendMessage', 'DeadEmailQueueUrl', {
    MessageBody: JSON.stringify({ clinic: clinic.id, message, waits: 0 }),
  })
/** Messages in a queue, including those that a consumer is processing. */
const count = async (output: string) => {
  const { Attributes } = await sqs<{ Attributes: Record<string, string> }>('GetQueueAttributes', output, {
    AttributeNames: ['All'],
  })
  const { ApproximateNumberOfMessages: seen, ApproximateNumberOfMessagesNotVisible: taken } = Attributes
  return Number(seen) + Number(taken)
}

it('moves nothing when there are no dead letters', async () => {
  expect(await tool('messages', 'redrive')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^emails +0 moved +0 left\nfeedback +0 moved +0 left\n/),
  })
})

it('returns waiting emails to their queue, from which each is sent once', async () => {
  const planting = Array.from({ length: 3 }, () =>
    storeMessage(stack.table, clinic, { dispatch: waitingDispatch() }),
  )
  const messages = await Promise.all(planting)
  for (const { id } of [...messages, ...messages]) await bury(id)
  const { code, json } = await tool('--json', 'messages', 'redrive', '--queue', 'emails')
  expect([code, json()]).toEqual([0, { data: [{ queue: 'emails', moved: 6, left: 0 }] }])
  await vi.waitFor(
    async () => {
      for (const message of messages) expect((await find(message))?.sentAt).not.toBeNull()
      expect(await count('EmailQueueUrl')).toBe(0)
    },
    { timeout: 20_000, interval: 200 },
  )
  const emails = (await (await fetch(stack.emailInboxUrl)).json()) as unknown[]
  expect(emails.length).toBe(3)
  expect(await count('DeadEmailQueueUrl')).toBe(0)
})

it('moves 25 dead letters without losing one', async () => {
  // They refer to no message, so the consumer fails and they stay in the queue.
  for (let at = 0; at < 25; at++) await bury(newUuid())
  const { code, stdout } = await tool('messages', 'redrive')
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^emails +25 moved +0 left\n/)])
  expect([await count('EmailQueueUrl'), await count('DeadEmailQueueUrl')]).toEqual([25, 0])
})

describe('dead-letters', () => {
  const letters = async () =>
    (await tool('--json', 'dead-letters', 'list', '--queue', 'emails')).json().data as Record<
      string,
      unknown
    >[]

  it('counts and lists them with what they refer to, and shows no text of a malformed one', async () => {
    const message = newUuid()
    await bury(message)
    await sqs('SendMessage', 'DeadEmailQueueUrl', { MessageBody: 'canary@example.com' })
    const { stdout } = await tool('dead-letters', 'count')
    expect(stdout).toMatch(/^emails +2\nfeedback +0\n/)
    const listed = await letters()
    expect(listed).toMatchObject([
      { queue: 'emails', clinic_id: clinic.id, message_id: message, is_malformed: false },
      { queue: 'emails', is_malformed: true, bytes: 18 },
    ])
    const shown = await tool('dead-letters', 'show', String(listed[1]?.letter_id), '--queue', 'emails')
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringMatching(/^is_malformed +true$/m)])
    expect(shown.stdout + JSON.stringify(listed)).not.toContain('canary')
  })

  it('moves one back to its queue, and discards one only if the operator agrees', async () => {
    const message = await storeMessage(stack.table, clinic, { dispatch: waitingDispatch() })
    await bury(message.id)
    const listed = await letters()
    const idOf = (isWanted: (letter: Record<string, unknown>) => boolean) =>
      String(listed.find(isWanted)?.letter_id)
    const waiting = idOf(({ message_id }) => message_id === message.id)
    const malformed = idOf(({ is_malformed }) => is_malformed === true)
    expect(await tool('dead-letters', 'redrive', waiting, '--queue', 'emails')).toMatchObject({ code: 0 })
    await vi.waitFor(async () => expect((await find(message))?.sentAt).not.toBeNull(), {
      timeout: 20_000,
      interval: 200,
    })
    const discard = ['dead-letters', 'discard', malformed, '--queue', 'emails']
    expect(await tool(...discard)).toMatchObject({ code: 2, stderr: expect.stringContaining('Use --yes') })
    expect(await tool(...discard, '--yes')).toMatchObject({ code: 0 })
    expect((await letters()).map(({ letter_id }) => letter_id)).toEqual(
      listed.map(({ letter_id }) => letter_id).filter((id) => id !== waiting && id !== malformed),
    )
    expect(await tool(...discard, '--yes')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`There is no dead letter ${malformed}.`),
    })
  })

  it('moves no failed fan-out back, which has no queue, but discards it', async () => {
    await sqs('SendMessage', 'FailedFanOutQueueUrl', { MessageBody: '{"position":1}' })
    const queue = ['--queue', 'failed-fan-outs']
    const [letter] = (await tool('--json', 'dead-letters', 'list', ...queue)).json().data
    expect(await tool('dead-letters', 'redrive', letter.letter_id, ...queue)).toMatchObject({
      code: 2,
      stderr: 'No queue takes back dead letters of failed-fan-outs: discard it.\n',
    })
    expect((await tool('dead-letters', 'discard', letter.letter_id, ...queue, '--yes')).code).toBe(0)
    expect(await count('FailedFanOutQueueUrl')).toBe(0)
  })
})

it('lists the known queues when the queue is unknown', async () => {
  expect(await tool('messages', 'redrive', '--queue', 'letters')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('--queue must be one of emails'),
  })
})
