/** The local stack with a realistic engine: functions, operator and streams go through the proxy. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RealisticDynamoDb } from '../../../../infra/local/realistic-dynamodb/realistic-dynamodb.ts'
import { get, post, type RunningStack, runStack } from '../../../support/local-stack.ts'
import { SHORT_LATENCY } from '../../../support/realistic-table.ts'

let stack: RunningStack
let dynamodb: RealisticDynamoDb
let seedEndpoint: string

beforeAll(async () => {
  stack = await runStack({
    realistic: { latency: SHORT_LATENCY },
    seed: async ({ endpoints }) => {
      seedEndpoint = endpoints.dynamodb
    },
  })
  if (!stack.realistic) throw new Error('The stack has no realistic engine.')
  dynamodb = stack.realistic
})
afterAll(() => stack.close())

const totalOf = async (search: string): Promise<number> =>
  (await get(stack, `/patients?search=${search}`)).body.meta.total

it('loads its initial data around the proxy, and serves requests through it', async () => {
  expect(stack.endpoints.dynamodb).toBe(dynamodb.endpoint)
  expect(seedEndpoint).not.toBe(dynamodb.endpoint)
  dynamodb.faults.next({ kind: 'error-before-commit', operation: 'Query', times: 8 })
  expect((await get(stack, '/patients?search=Unknown')).status).toBe(503)
  dynamodb.faults.clear()
  expect(await totalOf('Unknown')).toBe(0)
})

it('creates one patient when the response of the transaction is lost', async () => {
  dynamodb.resetCounts()
  dynamodb.faults.next({
    kind: 'response-lost',
    matches: ({ operation, input }) =>
      operation === 'TransactWriteItems' && JSON.stringify(input).includes('Zebulon'),
  })
  const { status } = await post(stack, '/patients', { first_name: 'Zebulon', last_name: 'Quist' })
  expect(status).toBe(201)
  expect(dynamodb.counts().faults).toEqual({ 'response-lost': { TransactWriteItems: 1 } })
  expect(await totalOf('Zebulon')).toBe(1)
})

it('feeds the stream of the table to its function', async () => {
  await post(stack, '/patients', { first_name: 'Ottokar', last_name: 'Quist' })
  await expect
    .poll(async () => (await get(stack, '/events')).body.data.length, { timeout: 20_000 })
    .toBeGreaterThan(0)
})
