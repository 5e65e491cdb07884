import { sendToQueue } from './engines/queues.ts'
import { readEvent } from './events/bus-event.ts'
import { type EventBus, startEventBus } from './events/event-bus.ts'
import { batchesOf, type QueueSources, startQueueSources } from './events/queue-sources.ts'
import { type StreamSources, startStreamSources } from './events/stream-sources.ts'
import { configureStreams } from './events/table-streams.ts'
import { createFunctionPool, type FunctionPool } from './functions/pool.ts'
import { type Limits, openScheduler, type Scheduler } from './functions/scheduler.ts'
import type { FunctionSpec } from './functions/spec.ts'
import type { AwsRequest, ClockOffset } from './functions/worker.ts'
import { localPages } from './gateway/pages.ts'
import type { GatewayHandlers } from './gateway/server.ts'
import type { LogDelivery } from './logs/log-delivery.ts'
import { putLogEvents } from './logs/put-log-events.ts'
import { type DeploymentPlan, type DeploymentTarget, plan } from './plan.ts'
import type { Providers } from './providers/server.ts'
import { writeReceipt } from './providers/sms-receipts.ts'
import type { Assembly } from './template/synthesize.ts'

type Options = DeploymentTarget & {
  readonly providers: Pick<Providers, 'sms' | 'emails' | 'inboxUrl' | 'setListener'>
  readonly logs: LogDelivery
  readonly log: (line: string) => void
  readonly functionLog?: ((text: string) => void) | undefined
  readonly clockOffset?: ClockOffset | undefined
  readonly onRequest?: OnRequest | undefined
  readonly limits?: Partial<Limits> | undefined
}

/** Receives each request that a function sends to AWS, with the function's logical id. */
export type OnRequest = (functionId: string, request: AwsRequest) => void

const newPool = (
  spec: FunctionSpec,
  mappings: DeploymentPlan['queues'],
  scheduler: Scheduler,
  { log, logs, functionLog, clockOffset, onRequest }: Options,
): FunctionPool =>
  createFunctionPool(spec, log, {
    writeLogs: (logGroup, text) => {
      functionLog?.(text)
      logs.write(logGroup, text)
    },
    clockOffset,
    onRequest: onRequest && ((request) => onRequest(spec.id, request)),
    batches: batchesOf(spec.arn, mappings),
    scheduler,
  })

/** The running stack. Each deployment reuses what the previous one created. */
export function deployLocally(options: Options) {
  const { region, endpoints, providers, logs, log } = options
  const scheduler = openScheduler(options.limits)
  const pools = new Map<string, FunctionPool>()
  const assemblies: Assembly[] = []
  let queues: QueueSources | undefined
  let streams: StreamSources | undefined
  let bus: EventBus | undefined
  let outputs: Record<string, string> = {}
  let seeded: object = {}

  const getPool = (arn: string): FunctionPool => {
    const pool = pools.get(arn)
    if (!pool) throw new Error(`${arn} is not a function of the stack.`)
    return pool
  }

  const updatePools = async ({ specs, queues: mappings }: DeploymentPlan): Promise<void> => {
    for (const spec of specs) {
      const pool = pools.get(spec.arn)
      if (pool) pool.update(spec)
      else pools.set(spec.arn, newPool(spec, mappings, scheduler, options))
    }
    const arns = new Set(specs.map(({ arn }) => arn))
    for (const [arn, pool] of pools)
      if (!arns.has(arn)) {
        pools.delete(arn)
        await pool.close()
      }
  }

  const startStreams = async (
    { streams: mappings, tableStreams: tables }: DeploymentPlan,
    seed?: () => Promise<object>,
  ): Promise<void> => {
    const engine = { endpoint: endpoints.dynamodb, region }
    if (seed) {
      // A persisted table may have a stream from an earlier run.
      await configureStreams(
        engine,
        tables.map(({ table }) => ({ table, view: null })),
      )
      seeded = await seed()
    }
    const sendFailure = (arn: string, MessageBody: string) => sendToQueue(endpoints.sqs, arn, { MessageBody })
    streams = await startStreamSources(
      { mappings, tables, engine, sendToQueue: sendFailure, getPool, log },
      streams,
    )
  }

  /**
   * Replaces the running version, or leaves it untouched when the new one cannot be deployed. `seed` runs after
   * everything is created and before the tables' streams are enabled; `/_local` shows what it returns.
   */
  const deploy = async (assembly: Assembly, seed?: () => Promise<object>): Promise<GatewayHandlers> => {
    const planned = await plan(assembly, options).catch(async (error) => {
      await assembly.dispose()
      throw error
    })
    logs.setFilters(planned.logFilters)
    await updatePools(planned)
    const { rules, subscriptions } = planned
    const services = { endpoint: endpoints.sqs, region, getPool, log }
    queues = await startQueueSources({ mappings: planned.queues, ...services }, queues)
    const startedBus = startEventBus({ rules, ...services }, bus)
    bus = startedBus
    providers.setListener({
      email: async (email) => planned.isPublished(email) && startedBus.put(email.event),
      sms: (receipt) => writeReceipt(receipt, { subscriptions, ...services }),
    })
    outputs = planned.outputs
    // The previous version keeps its files, since a function may be loading them.
    assemblies.push(assembly)
    if (assemblies.length > 2) await assemblies.shift()?.dispose()
    await startStreams(planned, seed)
    return {
      api: {
        ...planned.api,
        isFull: scheduler.isFull,
        invoke: (arn, event, traceId, abandoned) => getPool(arn).invoke(event, traceId, abandoned),
      },
      page: localPages({
        about: { ...planned.about, delivered: logs.files(), ...seeded },
        providers,
        putLogEvents: (body) => putLogEvents(body, logs),
        inject: async (text) => ({ matched: await startedBus.put(readEvent(text, region)) }),
      }),
    }
  }

  return {
    deploy,
    outputs: () => outputs,
    /** The functions, by the logical ids of the template. */
    functions: () => new Map([...pools.values()].map((pool) => [pool.name, pool])),
    close: async () => {
      bus?.stop()
      // Concurrently: a poller waits for its invocation, which may end only when its function is closed.
      await Promise.all([queues?.stop(), streams?.stop(), ...[...pools.values()].map(({ close }) => close())])
      await Promise.all(assemblies.map(({ dispose }) => dispose()))
    },
  }
}
