/** `messages redrive`: dead letters return to their queue, against the running stack. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
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

it('lists the known queues when the queue is unknown', async () => {
  expect(await tool('messages', 'redrive', '--queue', 'letters')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('--queue must be one of emails'),
  })
})
