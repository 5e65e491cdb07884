import { deployLocally } from './deployment.ts'
import { startDynamoDb } from './engines/dynamodb.ts'
import { startQueues } from './engines/queues.ts'
import { requestLog } from './gateway/request-log.ts'
import { openGateway } from './gateway/server.ts'
import type { Endpoints } from './plan.ts'
import type { FeedbackDelays } from './providers/feedback.ts'
import { startProviders } from './providers/server.ts'
import {
  type RealisticDynamoDb,
  type RealisticDynamoDbOptions,
  startRealisticDynamoDb,
} from './realistic-dynamodb/realistic-dynamodb.ts'
import { type AppContext, type Assembly, synthesize } from './template/synthesize.ts'
import { runInUtc } from './time-zone.ts'
import { watchSources } from './watch.ts'

export type LocalStackOptions = {
  /** `dev` unless given. */
  stage?: string
  /** 0 for any that is free. */
  port: number
  /** Keeps the table here; in memory otherwise. */
  dataDir?: string
  /** Takes over what is saved. */
  watch?: boolean
  /** Deploys what reads SNS's delivery receipts, beside the API. */
  smsReceipts?: boolean
  /** Adds DynamoDB's latency and transaction conflicts to the engine, and faults on demand. */
  realistic?: Omit<RealisticDynamoDbOptions, 'engine'>
  /** When providers tell what became of messages, other than after their usual fractions of a second. */
  feedbackDelays?: Partial<FeedbackDelays>
  /** Gets one line a request, and what goes wrong. */
  log?: (line: string) => void
  /** For functions, beside what the template gives them. */
  environment?: Record<string, string>
  /** `HOST:PORT` that functions may send webhooks to although it is not public. */
  allowedWebhookHost?: string | undefined
  /**
   * Loads what the start is to have: before requests are served, and before tables have their streams, so that what
   * it writes is no news to anybody.
   */
  seed?: (stack: Pick<LocalStack, 'endpoints' | 'outputs'>) => Promise<void>
}

export type LocalStack = {
  /** Without a stage, as a custom domain would serve it, and without a slash at the end. */
  baseUrl: string
  /** The template's. */
  outputs: Record<string, string>
  endpoints: Endpoints
  /** Faults and counts of DynamoDB; undefined unless the stack is realistic. */
  realistic: RealisticDynamoDb | undefined
  smsOutboxUrl: string
  emailInboxUrl: string
  /** Leaves no process, port, thread or file behind. */
  close(): Promise<void>
}

/**
 * Runs the synthesized template on engines of this machine, so that what is tried locally is what gets deployed.
 * @throws Error that says in its message what a person can do: port taken, no engine, a stack that does not synthesize
 */
export async function startLocalStack(options: LocalStackOptions): Promise<LocalStack> {
  const { stage = 'dev', port, dataDir, log = () => {}, allowedWebhookHost, seed } = options
  const context: AppContext = { stage, ...(options.smsReceipts && { smsReceipts: 'on' }) }
  const environment = {
    ...(allowedWebhookHost !== undefined && { ALLOWED_WEBHOOK_HOST: allowedWebhookHost }),
    ...options.environment,
  }
  const region = process.env.AWS_REGION ?? 'us-east-1'
  // Taken apart by close(), or here and now when something does not start; the last one first.
  await using cleanups = new AsyncDisposableStack()
  const track = <T>(resource: T, dispose: (resource: T) => Promise<void> | void): T => {
    cleanups.defer(async () => dispose(resource))
    return resource
  }

  const requests = requestLog(log)
  track(runInUtc(), (restore) => restore())
  const gateway = track(await openGateway(port, requests.write), ({ close }) => close())
  const closing = new AbortController()
  const [dynamodb, sqs, providers, assembly] = await allOrNothing(closing, [
    startDynamoDb({ dataDir, onUnexpectedExit: log, streams: true }).then((engine) =>
      track(engine, ({ stop }) => stop()),
    ),
    startQueues(region).then((engine) => track(engine, ({ stop }) => stop())),
    startProviders({ region, log, feedbackDelays: options.feedbackDelays }).then((engine) =>
      track(engine, ({ stop }) => stop()),
    ),
    synthesize(context, closing.signal).then((built) => track(built, ({ dispose }) => dispose())),
  ])

  const realistic =
    options.realistic &&
    track(await startRealisticDynamoDb({ engine: dynamodb.endpoint, ...options.realistic }), ({ close }) =>
      close(),
    )
  const endpoints = {
    dynamodb: realistic?.endpoint ?? dynamodb.endpoint,
    sqs: sqs.endpoint,
    sns: providers.endpoint,
    sesv2: providers.endpoint,
  }
  const baseUrl = `http://127.0.0.1:${gateway.port}`
  const deployment = track(
    deployLocally({
      ...{ region, stage, baseUrl, endpoints, providers, environment, log },
      tableSuffix: dynamodb.tableSuffix,
    }),
    ({ close }) => close(),
  )
  const deploy = async (next: Assembly, seedTables?: () => Promise<void>): Promise<void> => {
    const handlers = await deployment.deploy(next, seedTables)
    requests.align(handlers.api.routes.map(({ resource }) => resource))
    gateway.serve(handlers)
  }
  const redeploy = async (): Promise<void> => {
    const startedAt = performance.now()
    try {
      await deploy(await synthesize(context, closing.signal))
      log(`The saved version is live, after ${Math.round(performance.now() - startedAt)} ms.`)
    } catch (error) {
      if (!closing.signal.aborted) log(`The version before keeps serving. ${(error as Error).message}`)
    }
  }
  await deploy(assembly, async () =>
    // What is loaded before the first request meets no contention, so it goes to the engine itself.
    seed?.({ endpoints: { ...endpoints, dynamodb: dynamodb.endpoint }, outputs: deployment.outputs() }),
  )
  if (options.watch) track(watchSources(redeploy), (stop) => stop())
  track(closing, (controller) => controller.abort())
  // Once more, now as the first to end: no request is under way when the rest goes.
  track(gateway, ({ close }) => close())

  const resources = cleanups.move()
  let closed: Promise<void> | undefined
  return {
    baseUrl,
    get outputs() {
      return deployment.outputs()
    },
    endpoints,
    realistic,
    smsOutboxUrl: `${baseUrl}/_local/sms`,
    emailInboxUrl: `${baseUrl}/_local/emails`,
    close: () => {
      closed ??= resources.disposeAsync()
      return closed
    },
  }
}

/** When one part does not start, ends the others' work and waits until they can be taken apart. */
async function allOrNothing<T extends unknown[]>(
  failed: AbortController,
  parts: { [at in keyof T]: Promise<T[at]> },
): Promise<T> {
  try {
    return (await Promise.all(parts)) as T
  } catch (error) {
    failed.abort()
    await Promise.allSettled(parts)
    throw error
  }
}
