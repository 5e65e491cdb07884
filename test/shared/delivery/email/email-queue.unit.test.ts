import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { beforeEach, describe, expect, it } from 'vitest'
import { emailQueue, readQueuedEmail } from '../../../../shared/delivery/email/email-queue.ts'
import { backoffSeconds } from '../../../../shared/delivery/email/send-queued-email.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { mockClient } from '../../../support/mock-client.ts'

const CLINIC = '6d0e2a7c-0000-4000-8000-000000000001' as ClinicId
const MESSAGE = '6d0e2a7c-0000-4000-8000-000000000002'
const queued = { clinic: CLINIC, message: MESSAGE, waits: 0 }

const sqs = mockClient(SQSClient)
beforeEach(() => {
  sqs.reset()
  sqs.on(SendMessageCommand).resolves({ MessageId: 'sqs-1' })
})

const pushed = () => sqs.commandCalls(SendMessageCommand).map(({ args }) => args[0].input)

describe('a queued email', () => {
  const queue = emailQueue(new SQSClient({ region: 'us-east-1' }), 'https://sqs/emails')

  it('carries ids only, is grouped by clinic, and is parsed as it was sent', async () => {
    await queue.push(queued)
    await queue.push({ ...queued, waits: 7 }, 840)
    expect(pushed()).toEqual([
      { QueueUrl: 'https://sqs/emails', MessageBody: JSON.stringify(queued), MessageGroupId: CLINIC },
      {
        QueueUrl: 'https://sqs/emails',
        MessageBody: JSON.stringify({ ...queued, waits: 7 }),
        MessageGroupId: CLINIC,
        DelaySeconds: 840,
      },
    ])
    expect(pushed().map(({ MessageBody = '' }) => readQueuedEmail(MessageBody))).toEqual([
      queued,
      { ...queued, waits: 7 },
    ])
  })

  const NO_OBJECTS = ['', '{', 'null', '[]', '{}', '"text"', JSON.stringify([queued])]
  const WAITS = [-1, 1.5, '1', undefined].map((waits) => ({ waits }))
  const UNKNOWN_FIELD = { recipient: 'ada@example.com' }
  const wrong = [{ clinic: 'nord' }, { message: undefined }, ...WAITS, UNKNOWN_FIELD]
  it.each([...NO_OBJECTS, ...wrong.map((one) => JSON.stringify({ ...queued, ...one }))])(
    'is rejected as %s',
    (body) => {
      expect(() => readQueuedEmail(body)).toThrow()
    },
  )
})

it('backoffSeconds doubles from 15 seconds to 15 minutes, less up to a quarter', () => {
  for (let waits = 0; waits < 2000; waits++) {
    const longest = Math.min(900, 15 * 2 ** waits)
    expect(backoffSeconds(waits, 0)).toBe(Math.round(longest * 0.75))
    expect(backoffSeconds(waits, 0.5)).toBe(Math.round(longest * 0.875))
    expect(backoffSeconds(waits, 1)).toBe(longest)
  }
})
