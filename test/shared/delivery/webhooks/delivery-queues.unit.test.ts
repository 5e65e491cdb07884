import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs'
import { beforeEach, describe, expect, it } from 'vitest'
import { deliveryQueues, readQueuedDelivery } from '../../../../shared/delivery/webhooks/delivery-queues.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { MAX_QUEUE_DELAY_MS } from '../../../../shared/domain/webhooks/delivery.ts'
import { mockClient } from '../../../support/mock-client.ts'

const queued = {
  clinic: '6d0e2a7c-0000-4000-8000-000000000001' as ClinicId,
  webhook: '6d0e2a7c-0000-4000-8000-000000000002',
  delivery: '6d0e2a7c-0000-4000-8000-000000000003',
}
const many = (count: number) => Array.from({ length: count }, () => ({ ...queued, delivery: newUuid() }))

const sqs = mockClient(SQSClient)
beforeEach(() => {
  sqs.reset()
  sqs.on(SendMessageBatchCommand).resolves({})
})

const queues = deliveryQueues(new SQSClient({ region: 'us-east-1' }), {
  quick: 'https://sqs/deliveries',
  slow: 'https://sqs/slow-deliveries',
})
const calls = () => sqs.commandCalls(SendMessageBatchCommand).map(({ args }) => args[0].input)
const bodies = () => calls().flatMap(({ Entries = [] }) => Entries.map(({ MessageBody = '' }) => MessageBody))

describe('queued deliveries', () => {
  it.each([
    ['quick', 'https://sqs/deliveries', 'clinic'],
    ['slow', 'https://sqs/slow-deliveries', 'webhook'],
  ] as const)('are sent to the %s queue %s with ids only, grouped by %s', async (queue, QueueUrl, by) => {
    const both = [queued, { ...queued, [by]: newUuid() }]
    await queues.push(queue, both)
    const Entries = both.map((one, at) => ({
      Id: `${at}`,
      MessageBody: JSON.stringify(one),
      MessageGroupId: one[by],
    }))
    expect(calls()).toEqual([{ QueueUrl, Entries }])
    expect(bodies().map(readQueuedDelivery)).toEqual(both)
  })

  it.each([0, 1, 9, 10, 11, 20, 25])('%i in number are sent once each, in batches of ten', async (count) => {
    const all = many(count)
    await queues.push('quick', all)
    expect(bodies().map(readQueuedDelivery)).toEqual(all)
    const sizes = calls().map(({ Entries = [] }) => Entries.length)
    expect(sizes).toEqual([...Array(Math.floor(count / 10)).fill(10), ...(count % 10 ? [count % 10] : [])])
    for (const { Entries = [] } of calls())
      expect(new Set(Entries.map(({ Id }) => Id)).size).toBe(Entries.length)
  })

  it.each([
    [0, undefined],
    [1, 1],
    [999, 1],
    [1000, 1],
    [1001, 2],
    [5250, 6],
    // The longest delay of SQS.
    [MAX_QUEUE_DELAY_MS, 900],
  ])('with a delay of %i ms wait %s whole seconds', async (ms, seconds) => {
    await queues.push('slow', many(12), ms)
    const delays = calls().flatMap(({ Entries = [] }) => Entries.map(({ DelaySeconds }) => DelaySeconds))
    expect(delays).toEqual(Array(12).fill(seconds))
  })

  it('that SQS does not accept are reported as an error', async () => {
    sqs.on(SendMessageBatchCommand).resolves({
      Failed: [{ Id: '1', Code: 'InternalError', SenderFault: false }],
    })
    await expect(queues.push('quick', many(2))).rejects.toThrow('SQS did not accept all messages')
    sqs.on(SendMessageBatchCommand).rejects(new Error('down'))
    await expect(queues.push('quick', many(2))).rejects.toThrow('down')
  })

  const NO_OBJECTS = ['', '{', 'null', '[]', '{}', '"text"', JSON.stringify([queued])]
  const UNKNOWN_FIELD = { url: 'https://example.com/' }
  const wrong = [{ clinic: 'nord' }, { webhook: undefined }, { delivery: 1 }, { delivery: '' }, UNKNOWN_FIELD]
  it.each([...NO_OBJECTS, ...wrong.map((one) => JSON.stringify({ ...queued, ...one }))])(
    'are rejected as %s',
    (body) => {
      expect(() => readQueuedDelivery(body)).toThrow()
    },
  )
})
