import { DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { WORKERS } from '../../shared/runtime/workers.ts'
import { ALL_ANNOUNCED_PARTITIONS } from '../../shared/store/keys/events.ts'
import { DUE_MESSAGE_PARTITIONS } from '../../shared/store/keys/messages.ts'
import { DUE_DELIVERY_PARTITIONS } from '../../shared/store/keys/webhooks.ts'
import { handlerOf, stubFunctionEnvironment } from '../support/functions.ts'
import { mockClient } from '../support/mock-client.ts'

const dynamo = mockClient(DynamoDBDocumentClient)
beforeEach(() => {
  stubFunctionEnvironment('clinic-table')
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  dynamo.on(QueryCommand).resolves({ Items: [] })
})
afterEach(() => {
  vi.restoreAllMocks()
  dynamo.reset()
})

/** The partitions that a sweep reads when it is invoked with each of these events. */
async function readBy(id: string, events: readonly object[]): Promise<unknown[]> {
  const handler = (await handlerOf({ id })) as (event: object) => Promise<void>
  const before = dynamo.commandCalls(QueryCommand).length
  for (const event of events) await handler(event)
  return dynamo
    .commandCalls(QueryCommand)
    .slice(before)
    .map(({ args }) => Object.values(args[0].input.ExpressionAttributeValues ?? {})[0])
}

const SWEEPS: [id: string, partitions: readonly string[]][] = [
  ['sweep-deliveries', DUE_DELIVERY_PARTITIONS],
  ['sweep-events', ALL_ANNOUNCED_PARTITIONS],
  ['sweep-messages', DUE_MESSAGE_PARTITIONS],
]

it.each(SWEEPS)('the parts of %s read each of its partitions once', async (id, partitions) => {
  const { trigger } = WORKERS.find((worker) => worker.id === id) ?? {}
  const parts = (trigger?.type === 'schedule' && trigger.parts) || 1
  expect(parts).toBeGreaterThan(1)
  const events = Array.from({ length: parts }, (_, part) => ({ part, parts }))
  expect((await readBy(id, events)).toSorted()).toEqual(partitions.toSorted())
  expect((await readBy(id, events.slice(0, 1))).length).toBe(partitions.length / parts)
})

it.each(SWEEPS)('%s reads all partitions when it is invoked without a part', async (id, partitions) => {
  expect((await readBy(id, [{}])).toSorted()).toEqual(partitions.toSorted())
})
