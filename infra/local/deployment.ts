import { sendToQueue } from './engines/queues.ts'
import { startEventBus } from './events/event-bus.ts'
import { batchesOf, startQueueSources } from './events/queue-sources.ts'
import { type StreamSources, startStreamSources } from './events/stream-sources.ts'
import { configureStreams } from './events/table-streams.ts'
import { createFunctionPool, type FunctionPool } from './functions/pool.ts'
import { type Limits, openScheduler } from './functions/scheduler.ts'
import type { FunctionSpec } from './functions/spec.ts'
import type { AwsRequest, ClockOffset } from './functions/worker.ts'
import { localPages } from './gateway/pages.ts'
import type { GatewayHandlers } from './gateway/server.ts'
import { openLogDelivery } from './logs/log-delivery.ts'
import { type DeploymentTarget, plan } from './plan.ts'
import type { Providers } from './providers/server.ts'
import { writeReceipt } from './providers/sms-receipts.ts'
import type { Assembly } from './template/synthesize.ts'

type Options = DeploymentTarget & {
  readonly providers: Pick<Providers, 'sms' | 'emails' | 'setListener'>
  readonly dataDir?: string | undefined
  readonly log: (line: string) => void
  readonly functionLog?: ((text: string) => void) | undefined
  readonly clockOffset?: ClockOffset | undefined
  readonly onRequest?: OnRequest | undefined
  readonly limits?: Partial<Limits> | undefined
}

/** Receives each request that a function sends to AWS, with the function's logical id. */
export type OnRequest = (functionId: string, request: AwsRequest) => void

/**
 * Deploys the stack. `seed` runs after everything is created and before the tables' streams are enabled; `/_local` shows what it
 * returns.
 */
export async function deployLocally(
  assembly: Assembly,
  options: Options,
  seed: (outputs: Record<string, string>) => Promise<object> = async () => ({}),
) {
  const { region, endpoints, providers, log, functionLog, clockOffset, onRequest } = options
  const { specs, queues, streams, tableStreams, rules, subscriptions, outputs, ...planned } = await plan(
    assembly,
    options,
  )
  const logs = openLogDelivery(planned.logFilters, options.dataDir)
  const scheduler = openScheduler(options.limits)
  const newPool = (spec: FunctionSpec) =>
    createFunctionPool(spec, log, {
      writeLogs: (logGroup, text) => {
        functionLog?.(text)
        logs.write(logGroup, text)
      },
      clockOffset,
      onRequest: onRequest && ((request) => onRequest(spec.id, request)),
      batches: batchesOf(spec.arn, queues),
      scheduler,
    })
  const pools = new Map(specs.map((spec) => [spec.arn, newPool(spec)]))
  const getPool = (arn: string): FunctionPool => {
    const pool = pools.get(arn)
    if (!pool) throw new Error(`${arn} is not a function of the stack.`)
    return pool
  }
  const services = { endpoint: endpoints.sqs, region, getPool, log }
  const queueSources = startQueueSources({ mappings: queues, ...services })
  const bus = startEventBus({ rules, ...services })
  let streamSources: StreamSources | undefined
  const close = async () => {
    bus.stop()
    // Concurrently: a poller waits for its invocation, which may end only when its function is closed.
    await Promise.all([
      queueSources.stop(),
      streamSources?.stop(),
      ...[...pools.values()].map((pool) => pool.close()),
    ])
    logs.close()
  }
  try {
    providers.setListener({
      email: async (email) => planned.isPublished(email) && bus.put(email.event),
      sms: (receipt) => writeReceipt(receipt, { subscriptions, ...services }),
    })
    const engine = { endpoint: endpoints.dynamodb, region }
    // A persisted table may have a stream from an earlier run.
    await configureStreams(
      engine,
      tableStreams.map(({ table }) => ({ table, view: null })),
    )
    const seeded = await seed(outputs)
    await configureStreams(engine, tableStreams)
    streamSources = await startStreamSources({
      mappings: streams,
      engine,
      sendToQueue: (arn, MessageBody) => sendToQueue(endpoints.sqs, arn, { MessageBody }),
      getPool,
      log,
    })
    const handlers: GatewayHandlers = {
      api: {
        ...planned.api,
        isFull: scheduler.isFull,
        invoke: (arn, event, traceId, abandoned) => getPool(arn).invoke(event, traceId, abandoned),
      },
      page: localPages({
        about: { ...planned.about, delivered: logs.files(), ...seeded },
        providers,
        writeLogs: logs.write,
      }),
    }
    return {
      handlers,
      outputs,
      /** The functions, by the logical ids of the template. */
      functions: new Map([...pools.values()].map((pool) => [pool.name, pool])),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
