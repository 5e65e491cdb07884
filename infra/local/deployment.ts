import { readEvent } from './bus-event.ts'
import { type EventBus, startEventBus } from './event-bus.ts'
import { createFunctionPool, type FunctionPool } from './function-pool.ts'
import type { FunctionSpec } from './function-spec.ts'
import type { Serving } from './gateway.ts'
import { localPages } from './pages.ts'
import { type Place, type Planned, plan } from './plan.ts'
import type { Providers } from './providers.ts'
import { type QueueSources, startQueueSources } from './queue-sources.ts'
import { writeReceipt } from './sms-receipts.ts'
import { type StreamSources, startStreamSources } from './stream-sources.ts'
import type { Assembly } from './synthesize.ts'
import { switchStreams } from './table-streams.ts'

type Options = Place & {
  readonly providers: Pick<Providers, 'sms' | 'emails' | 'inboxUrl' | 'tell'>
  readonly log: (line: string) => void
}

/** The stack as it runs now: what a deployment has made so far, taken over by the next. */
export type Deployment = {
  /**
   * Nothing of the running version is touched when the new one cannot be deployed. `seed` runs once all is made, and
   * before the tables' streams are switched on.
   */
  readonly deploy: (assembly: Assembly, seed?: () => Promise<void>) => Promise<Serving>
  readonly outputs: () => Record<string, string>
  readonly close: () => Promise<void>
}

export function deployLocally(options: Options): Deployment {
  const { region, endpoints, providers, log } = options
  const pools = new Map<string, FunctionPool>()
  const assemblies: Assembly[] = []
  let queues: QueueSources | undefined
  let streams: StreamSources | undefined
  let bus: EventBus | undefined
  let outputs: Record<string, string> = {}

  const poolOf = (arn: string): FunctionPool => {
    const pool = pools.get(arn)
    if (!pool) throw new Error(`${arn} is no function of the stack.`)
    return pool
  }

  const takeOver = async (specs: readonly FunctionSpec[]): Promise<void> => {
    for (const spec of specs) {
      const pool = pools.get(spec.arn)
      if (pool) pool.update(spec)
      else pools.set(spec.arn, createFunctionPool(spec, log))
    }
    const arns = new Set(specs.map(({ arn }) => arn))
    for (const [arn, pool] of pools)
      if (!arns.has(arn)) {
        pools.delete(arn)
        await pool.close()
      }
  }

  const openStreams = async (
    { streams: mappings, tableStreams: tables }: Planned,
    seed?: () => Promise<void>,
  ): Promise<void> => {
    const engine = { endpoint: endpoints.dynamodb, region }
    if (seed) {
      // A table that was kept may have its stream from an earlier run.
      await switchStreams(
        engine,
        tables.map(({ table }) => ({ table, view: null })),
      )
      await seed()
    }
    streams = await startStreamSources({ mappings, tables, engine, functionOf: poolOf, log }, streams)
  }

  const deploy: Deployment['deploy'] = async (assembly, seed) => {
    const planned = await plan(assembly, options).catch(async (error) => {
      await assembly.dispose()
      throw error
    })
    await takeOver(planned.specs)
    const { rules, subscriptions } = planned
    const reach = { endpoint: endpoints.sqs, region, functionOf: poolOf, log }
    queues = await startQueueSources({ mappings: planned.queues, ...reach }, queues)
    const running = startEventBus({ rules, ...reach }, bus)
    bus = running
    providers.tell({
      email: async (email) => planned.isPublished(email) && running.put(email.event),
      sms: (receipt) => writeReceipt(receipt, { subscriptions, ...reach }),
    })
    outputs = planned.outputs
    // The version before keeps its files: a function may be loading them now.
    assemblies.push(assembly)
    if (assemblies.length > 2) await assemblies.shift()?.dispose()
    await openStreams(planned, seed)
    return {
      api: { ...planned.api, invoke: (arn, event, traceId) => poolOf(arn).invoke(event, traceId) },
      page: localPages({
        about: planned.about,
        providers,
        inject: async (text) => ({ matched: await running.put(readEvent(text, region)) }),
      }),
    }
  }

  return {
    deploy,
    outputs: () => outputs,
    close: async () => {
      bus?.stop()
      // Together: a poller waits for the invocation that only the end of its function ends.
      await Promise.all([queues?.stop(), streams?.stop(), ...[...pools.values()].map(({ close }) => close())])
      await Promise.all(assemblies.map(({ dispose }) => dispose()))
    },
  }
}
