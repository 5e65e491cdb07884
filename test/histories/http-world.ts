/** A history over HTTP: requests to the gateway of a local stack, whose functions run in threads that are killed. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { callSqs } from '../../infra/local/engines/queues.ts'
import { ENDPOINTS, ROUTES } from '../../shared/api/routes.ts'
import { DUE_REFRESH_PARTITIONS } from '../../shared/store/keys/copies.ts'
import { ALL_ANNOUNCED_PARTITIONS } from '../../shared/store/keys/events.ts'
import { DUE_MESSAGE_PARTITIONS } from '../../shared/store/keys/messages.ts'
import { DUE_DELIVERY_PARTITIONS } from '../../shared/store/keys/webhooks.ts'
import { openTable } from '../../shared/store/table/table.ts'
import type { RunningStack } from '../support/local-stack.ts'
import type { RandomSource } from '../support/realistic-dynamodb/random.ts'
import type { RealisticDynamoDb } from '../support/realistic-dynamodb/realistic-dynamodb.ts'
import { tableText } from '../support/table-text.ts'
import { createProviders } from './providers.ts'
import { stackFunctions } from './stack-functions.ts'
import { planTransactionFaults } from './stage.ts'
import { CRASHED, runTask, type Surroundings, taskClient, taskNow } from './task.ts'
import type { ApiRequest, World } from './world.ts'

export type HttpEngine = {
  readonly stack: RunningStack
  readonly dynamodb: RealisticDynamoDb
  /** Through the proxy that conflicts and fails, for commands. */
  readonly client: DynamoDBDocumentClient
  readonly direct: DynamoDBDocumentClient
  readonly tableName: string
  readonly receiver: string
  /** How far the functions' clock is ahead. */
  readonly clockOffset: Float64Array
}

const MINUTE_MS = 60_000
/** A request with the latencies of the stage takes about so long. */
const MAX_KILL_DELAY_MS = 60
/** The share of requests that lose their function, except planned crashes, and that lose a worker at the same time. */
const REQUEST_KILLS = 0.08
const WORKER_KILLS = 0.08
const MAX_SETTLE_ROUNDS = 40
/** How long the queues and streams get to do what a sweep has found. */
const MAX_QUIET_MS = 3000
const MAX_DRAIN_MS = 1000
/** Longer than the delays of the stage's feedback. */
const FEEDBACK_MS = 100
const QUIET_STEP_MS = 25
const MAX_LOG_DELAY_MS = 500

const WORKERS = [
  'send-email',
  'deliver-event',
  'fan-out-events',
  'sweep-messages',
  'sweep-events',
  'sweep-deliveries',
  'refresh-copies',
  'email-feedback',
]

const SWEEPS = ['sweep-messages', 'sweep-events', 'sweep-deliveries', 'refresh-copies']

const DUE_PARTITIONS = [
  ...ALL_ANNOUNCED_PARTITIONS,
  ...DUE_MESSAGE_PARTITIONS,
  ...DUE_DELIVERY_PARTITIONS,
  ...DUE_REFRESH_PARTITIONS,
]

export function httpWorld(engine: HttpEngine, random: RandomSource) {
  const { stack, dynamodb, client, direct, tableName, clockOffset } = engine
  const functions = stackFunctions(stack)
  const table = openTable(direct, tableName)
  // Commands call no provider.
  const surroundings: Surroundings = {
    client,
    providers: createProviders(random, 0),
    clockOffset: 0,
    errors: [],
  }
  const killing = new Set<Promise<void>>()
  const counts = { kills: 0 }
  let isCalm = false

  const inBackground = (work: Promise<void>): void => {
    counts.kills++
    killing.add(work)
    void work.then(() => killing.delete(work))
  }
  const killSoon = (id: string) => inBackground(functions.killAfter(id, random() * MAX_KILL_DELAY_MS))
  const chance = (share: number): boolean => !isCalm && random() < share
  const drawWorker = (): string => WORKERS[Math.floor(random() * WORKERS.length)] as string
  const advance = (milliseconds: number): void => {
    clockOffset[0] = (clockOffset[0] ?? 0) + milliseconds
    surroundings.clockOffset = clockOffset[0]
  }
  const isAnythingDue = async (): Promise<boolean> =>
    (await Promise.all(DUE_PARTITIONS.map((pk) => table.query({ pk, limit: 1 })))).flat().length > 0

  const world: World = {
    table,
    send: async (request, crash) => {
      const since = performance.now()
      if (crash || chance(REQUEST_KILLS)) killSoon(request.route)
      if (chance(WORKER_KILLS)) killSoon(drawWorker())
      const response = await fetch(...fetchParameters(stack.api, request))
      const text = await response.text()
      const isFromGateway = response.headers.has('x-amzn-errortype')
      if (response.status === 500 && isFromGateway && functions.wasKilled(request.route, since)) return null
      const body = text === '' ? null : JSON.parse(text)
      if (response.status < 500) return { status: response.status, text, body }
      const cause = await logEntryOf(stack, response.headers.get('x-request-id') ?? '')
      return { status: response.status, text, body, cause }
    },
    operate: async (work, crash) => {
      const result = await runTask(surroundings, crash, () =>
        work(openTable(taskClient, tableName, { now: taskNow })),
      )
      return result === CRASHED ? 'crashed' : { result: result as Awaited<ReturnType<typeof work>> }
    },
    planFaults: (faults) => planTransactionFaults(dynamodb, faults),
    restart: () => {
      for (const { id } of ENDPOINTS) inBackground(functions.kill(id))
      for (const id of WORKERS) inBackground(functions.kill(id))
    },
    webhookUrl: (token) => `http://${engine.receiver}/${token}`,
    runWorkers: async () => {
      killSoon(drawWorker())
      await Promise.all(SWEEPS.map((id) => functions.run(id)))
    },
    settle: async () => {
      dynamodb.faults.clear()
      isCalm = true
      await Promise.all(killing)
      for (let round = 0; round < MAX_SETTLE_ROUNDS; round++) {
        advance(MINUTE_MS * (round < 2 ? 1 : 15))
        for (const id of SWEEPS)
          if (!(await functions.run(id))) throw new Error(`${id} failed: ${stack.log.slice(-5).join('\n')}`)
        const deadline = performance.now() + MAX_QUIET_MS
        while (performance.now() < deadline && (await isAnythingDue())) await sleep(QUIET_STEP_MS)
        if (round > 2 && !(await isAnythingDue())) break
      }
      await drainQueues(stack)
    },
    reportFeedback: null,
    timesSent: async (channel, text) => {
      const sent = await (await fetch(channel === 'sms' ? stack.smsOutboxUrl : stack.emailInboxUrl)).json()
      return (sent as { message?: string; text?: string }[]).filter(
        (one) => (one.message ?? one.text)?.trim() === text,
      ).length
    },
    tableText: () => tableText({ client: direct, name: tableName, table }, direct),
  }
  return { world, counts }
}

/** The log entry of a request, which follows its response. */
async function logEntryOf({ log }: RunningStack, requestId: string): Promise<string | undefined> {
  const find = () => log.find((entry) => entry.includes(requestId))
  const deadline = performance.now() + MAX_LOG_DELAY_MS
  while (find() === undefined && performance.now() < deadline) await sleep(QUIET_STEP_MS)
  return find()
}

/**
 * Waits for the providers' feedback and for duplicates. The messages of a function that was killed stay invisible for
 * minutes; they are not awaited, since the sweeps have done their work.
 */
async function drainQueues({ endpoints }: RunningStack): Promise<void> {
  const { QueueUrls = [] } = await callSqs<{ QueueUrls?: string[] }>(endpoints.sqs, 'ListQueues', {})
  const AttributeNames = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible']
  const sizeOf = async (QueueUrl: string): Promise<number> => {
    const { Attributes = {} } = await callSqs<{ Attributes?: Record<string, string> }>(
      endpoints.sqs,
      'GetQueueAttributes',
      { QueueUrl, AttributeNames },
    )
    return AttributeNames.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0)
  }
  const deadline = performance.now() + MAX_DRAIN_MS
  let sizes: number[]
  do {
    await sleep(FEEDBACK_MS)
    sizes = await Promise.all(QueueUrls.filter((url) => !/dead/i.test(url)).map(sizeOf))
  } while (sizes.some((size) => size > 0) && performance.now() < deadline)
}

function fetchParameters(
  api: string,
  { route: id, authorization, path = {}, query = {}, body, key }: ApiRequest,
): [url: string, init: RequestInit] {
  const route = ROUTES.find((one) => one.id === id)
  if (!route) throw new Error(`no route ${id}`)
  const resource = route.path.replace(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(path[name] ?? ''),
  )
  const search = new URLSearchParams(query).toString()
  return [
    `${api}${resource}${search && `?${search}`}`,
    {
      method: route.method,
      headers: {
        authorization,
        ...(body && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body && { body: JSON.stringify(body) }),
    },
  ]
}
