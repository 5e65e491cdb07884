/** A history in one process: the functions' handlers, the realistic engine, and providers that lose responses. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { ROUTES } from '../../shared/api/routes.ts'
import { PROVIDERS } from '../../shared/domain/messages/message.ts'
import { ALL_ANNOUNCED_PARTITIONS } from '../../shared/store/keys/events.ts'
import { messageDispatch } from '../../shared/store/messages/dispatch.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'
import { batch, feedback, receiptsOf } from '../infra/functions/worker-events.ts'
import { apiEvent, lambdaContext } from '../support/event.ts'
import type { RandomSource } from '../support/random.ts'
import type { InjectedFault, Selection } from '../support/realistic-dynamodb/faults.ts'
import type { RealisticDynamoDb } from '../support/realistic-dynamodb/realistic-dynamodb.ts'
import { tableText } from '../support/table-text.ts'
import type { functionInstances } from './functions.ts'
import { createProviders } from './providers.ts'
import { CRASHED, type CrashPoint, runTask, type Surroundings, taskClient, taskNow } from './task.ts'
import type { ApiRequest, World } from './world.ts'

export type LocalEngine = {
  readonly dynamodb: RealisticDynamoDb
  /** Through the proxy. */
  readonly client: DynamoDBDocumentClient
  /** Straight to the engine. */
  readonly direct: DynamoDBDocumentClient
  readonly tableName: string
  readonly functions: ReturnType<typeof functionInstances>
}

type QueueResult = { readonly batchItemFailures?: readonly unknown[] }

const MINUTE_MS = 60_000
/** A sweep finds everything that waits after so many minutes: claims, first checks and retries of deliveries. */
const SETTLE_ROUNDS = 40

/** The consumers of queues, except the consumers of deliveries. */
const CONSUMERS: Readonly<Record<string, string>> = {
  emails: 'send-email',
}

export function localWorld(engine: LocalEngine, random: RandomSource, providerFaults: number) {
  const { dynamodb, client, direct, tableName, functions } = engine
  const providers = createProviders(random, providerFaults)
  const surroundings: Surroundings = { client, providers, clockOffset: 0, errors: [] }
  const calm: Surroundings = { ...surroundings, client: direct }
  let isCalm = false
  const around = () => (isCalm ? calm : surroundings)
  const table: Table = openTable(direct, tableName)
  const invoke = async (id: string, event: unknown, crash?: CrashPoint, ahead = 0) => {
    const handler = await functions.handler(id)
    const own = { ...around(), clockOffset: around().clockOffset + ahead }
    return runTask(own, crash, () => handler(event, lambdaContext()))
  }

  async function runQueue(): Promise<void> {
    const queued = providers.takeQueued()
    await Promise.all(
      queued.map(async (message) => {
        const id = CONSUMERS[message.queue] ?? 'deliver-event'
        const crash = !isCalm && random() < 0.03 ? drawCrash(random) : undefined
        const record = { messageId: message.id, body: message.body, eventSourceARN: message.queue }
        const result = await invoke(id, { Records: [record] }, crash).catch(() => CRASHED)
        const failed =
          result === CRASHED || (result as { batchItemFailures: unknown[] }).batchItemFailures.length > 0
        if (failed) providers.putBack([message])
      }),
    )
  }

  const fanOut = async (crash?: CrashPoint) => {
    const keys = (
      await Promise.all(ALL_ANNOUNCED_PARTITIONS.map((pk) => table.query({ pk, limit: 1 })))
    ).flat()
    const Records = keys.map(({ sk }) => ({ dynamodb: { Keys: { sk: { S: sk } } } }))
    if (Records.length > 0) await invoke('fan-out-events', { Records }, crash).catch(ignoreWhileFaulty)
  }
  const ignoreWhileFaulty = (error: unknown) => {
    if (isCalm) throw error
  }

  const world: World = {
    table,
    send: async (request, crash) => {
      const result = await invoke(request.route, eventOf(request), crash, request.ahead)
      if (result === CRASHED) return null
      const { statusCode: status, body: text } = result as { statusCode: number; body: string }
      const cause = status < 500 ? undefined : surroundings.errors.at(-1)
      return { status, text, body: text === '' ? null : JSON.parse(text), cause }
    },
    operate: async (work, crash) => {
      const result = await runTask(around(), crash, () =>
        work(openTable(taskClient, tableName, { now: taskNow })),
      )
      return result === CRASHED ? 'crashed' : { result: result as Awaited<ReturnType<typeof work>> }
    },
    planFaults: (faults) => {
      for (const { kind, times } of faults)
        dynamodb.faults.next({ kind, times, operation: 'TransactWriteItems' } as InjectedFault & Selection)
    },
    restart: functions.restart,
    webhookUrl: (token) => `https://${token}.example.com/`,
    runWorkers: async (crash) => {
      await fanOut(crash)
      await runQueue()
      await invoke('sweep-messages', {}).catch(ignoreWhileFaulty)
      await invoke('refresh-copies', {}, crash).catch(ignoreWhileFaulty)
    },
    settle: async () => {
      dynamodb.faults.clear()
      providers.heal()
      isCalm = true
      for (let round = 0; round < SETTLE_ROUNDS; round++) {
        for (const one of [surroundings, calm]) one.clockOffset += MINUTE_MS * (round < 2 ? 1 : 15)
        await invoke('sweep-messages', {})
        await invoke('sweep-events', {})
        await invoke('sweep-deliveries', {})
        await invoke('refresh-copies', {})
        const isIdle = providers.isQueueEmpty()
        await runQueue()
        if (round > 3 && isIdle) break
      }
    },
    reportFeedback: async (report, crash) => {
      const provider = providers.messageIds.get(report.text) ?? ''
      // Receipts name an SMS by the provider's id. Those of ids that were never recorded are ignored.
      const isKnown =
        report.channel === 'email' ||
        (await messageDispatch({ table }).findByProviderId(PROVIDERS.sms, provider)) !== null
      const isDelivered = report.kind === 'delivered'
      const facts = {
        provider_message_id: provider,
        ...(!isDelivered && { detail: ['Permanent', 'General'] }),
      }
      const [id, event] =
        report.channel === 'sms'
          ? ['sms-receipts', receiptsOf([provider], isDelivered ? 'SUCCESS' : 'FAILURE')]
          : [
              'email-feedback',
              batch([feedback(report.clinic, isDelivered ? 'Delivery' : 'Bounce', report.id, facts)]),
            ]
      const result = await invoke(id, event, crash).catch(() => CRASHED)
      return isKnown && result !== CRASHED && !(result as QueueResult | undefined)?.batchItemFailures?.length
    },
    timesSent: async (channel, text) =>
      (channel === 'sms' ? providers.sms : providers.emails).filter((sent) => sent === text).length,
    tableText: () => tableText({ client: direct, name: tableName, table }),
  }
  return { world, providers }
}

export const drawCrash = (random: RandomSource): CrashPoint => ({
  call: 1 + Math.floor(random() * 12),
  point: random() < 0.5 ? 'before' : 'after',
})

function eventOf({ route: id, authorization, path, query, body, key }: ApiRequest) {
  const route = ROUTES.find((one) => one.id === id)
  return apiEvent({
    method: route?.method ?? 'GET',
    ...(path && { path }),
    ...(query && { query }),
    ...(body && { body: JSON.stringify(body) }),
    headers: {
      Authorization: authorization,
      ...(body && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
  })
}
