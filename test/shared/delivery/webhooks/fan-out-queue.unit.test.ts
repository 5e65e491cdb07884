import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { beforeEach, expect, it } from 'vitest'
import { fanOutQueue, readQueuedFanOut } from '../../../../shared/delivery/webhooks/fan-out-queue.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { mockClient } from '../../../support/mock-client.ts'

const clinic = '6d0e2a7c-0000-4000-8000-000000000001' as ClinicId
const sqs = mockClient(SQSClient)
beforeEach(() => {
  sqs.reset()
  sqs.on(SendMessageCommand).resolves({})
})
const queue = fanOutQueue(new SQSClient({ region: 'us-east-1' }), 'https://sqs/fan-outs.fifo', newUuid)

it('queues a clinic in a group of its own, with its id only', async () => {
  await queue.push(clinic)
  const [call] = sqs.commandCalls(SendMessageCommand)
  expect(call?.args[0].input).toEqual({
    QueueUrl: 'https://sqs/fan-outs.fifo',
    MessageBody: JSON.stringify({ clinic }),
    MessageGroupId: clinic,
    MessageDeduplicationId: expect.any(String),
  })
  expect(readQueuedFanOut(call?.args[0].input.MessageBody ?? '')).toBe(clinic)
})

it('queues a clinic again although SQS has just had the same message', async () => {
  await queue.push(clinic)
  await queue.push(clinic)
  const ids = sqs.commandCalls(SendMessageCommand).map(({ args }) => args[0].input.MessageDeduplicationId)
  expect(new Set(ids).size).toBe(2)
})

it.each(['', '{}', '[]', '{"clinic":"x"}', `{"clinic":"${clinic}","more":1}`])('rejects %j', (body) => {
  expect(() => readQueuedFanOut(body)).toThrow()
})
