import { deployLocally, type OnRequest } from './deployment.ts'
import { type DynamoDbEngine, startDynamoDb } from './engines/dynamodb.ts'
import { startQueues } from './engines/queues.ts'
import type { FunctionPool } from './functions/pool.ts'
import type { Limits } from './functions/scheduler.ts'
import type { ClockOffset } from './functions/worker.ts'
import { requestLog } from './gateway/request-log.ts'
import { openGateway } from './gateway/server.ts'
import type { Endpoints } from './plan.ts'
import type { FeedbackDelays } from './providers/feedback.ts'
import { startProviders } from './providers/server.ts'
import { LOCAL_SETTINGS } from './settings.ts'
import { type AppContext, type Assembly, synthesize as runApp } from './template/synthesize.ts'

export type LocalStackOptions = {
  /** Defaults to `dev`. */
  stage?: string
  /** 0 for any free port. */
  port: number
  /** The folder that the table is stored in. Without it, the table is in memory. */
  dataDir?: string
  /** Whether the API has a domain, which the address of this stack stands for. Otherwise the stage is in the path. */
  domain?: boolean
  /** Deploys the opt-in stack of SMS receipts too. */
  smsReceipts?: boolean
  /** A DynamoDB to use and to stop instead of the embedded one. */
  dynamodb?: DynamoDbEngine
  /** Overrides the time that providers take to report what happened to messages. */
  feedbackDelays?: Partial<FeedbackDelays>
  /** Overrides how many functions load, run and wait at a time. */
  limits?: Partial<Limits>
  /** Moves the clock of the functions. */
  clockOffset?: ClockOffset
  /** Receives each request that a function sends to AWS, with the function's logical id. */
  onRequest?: OnRequest
  /** Receives a line for each request and each problem. Lines that report no problem are routine. */
  log?: (line: string, isRoutine?: boolean) => void
  /** Receives what functions write. */
  functionLog?: (text: string) => void
  /** Added to the environment of every function. */
  environment?: Record<string, string>
  /** `HOST:PORT`, or `localhost` for any port of this machine, that functions may send webhooks to although it is not public. */
  allowedWebhookHost?: string | undefined
  /** Synthesizes the stack; runs the CDK app by default. */
  synthesize?: (context: AppContext, signal: AbortSignal) => Promise<Assembly>
  /**
   * Loads initial data, before requests are served and before the tables' streams are enabled, so that these writes
   * announce no events. `/_local` shows the object that it returns.
   */
  seed?: (stack: SeededStack) => Promise<object>
}

/** The stack before it serves requests. */
export type SeededStack = Pick<LocalStack, 'endpoints' | 'outputs'>

export type LocalStack = {
  /** The address that the API listens on, without a trailing slash. Without a domain, the stage is still to be added. */
  baseUrl: string
  /** The outputs of the template. */
  outputs: Record<string, string>
  endpoints: Endpoints
  /** The functions, by the logical ids of the template. */
  functions: ReadonlyMap<string, Pick<FunctionPool, 'invoke' | 'kill'>>
  smsOutboxUrl: string
  emailInboxUrl: string
  /** Ends all processes and threads, closes all ports and removes temporary files. */
  close(): Promise<void>
}

/**
 * Runs the synthesized template on local engines, so that the stack that runs locally is the one that gets deployed.
 * @throws Error that says what a person can do when the port is in use, an engine is missing or synthesis fails
 */
export async function startLocalStack(options: LocalStackOptions): Promise<LocalStack> {
  const { stage = 'dev', port, dataDir, log = () => {}, synthesize = runApp, seed } = options
  const context: AppContext = {
    stage,
    ...localSettings(options),
    ...(options.smsReceipts && { smsReceipts: 'on' }),
  }
  const region = process.env.AWS_REGION ?? 'us-east-1'
  // Disposed of in reverse order by close(), or at the end of this function if something does not start.
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
    (options.dynamodb
      ? Promise.resolve(options.dynamodb)
      : startDynamoDb({ dataDir, onUnexpectedExit: log, streams: true })
    ).then((engine) => track(engine, ({ stop }) => stop())),
    startQueues(region).then((engine) => track(engine, ({ stop }) => stop())),
    startProviders({ region, log, feedbackDelays: options.feedbackDelays }).then((engine) =>
      track(engine, ({ stop }) => stop()),
    ),
    synthesize(context, closing.signal).then((built) => track(built, ({ dispose }) => dispose())),
  ])

  const baseUrl = `http://127.0.0.1:${gateway.port}`
  const endpoints = {
    dynamodb: dynamodb.endpoint,
    sqs: sqs.endpoint,
    sns: providers.endpoint,
    sesv2: providers.endpoint,
    logs: `${baseUrl}/_local/logs`,
  }
  const { handlers, outputs, functions } = track(
    await deployLocally(
      assembly,
      {
        region,
        stage,
        baseUrl,
        endpoints,
        providers,
        dataDir,
        log,
        environment: environmentOf(options),
        tableSuffix: dynamodb.tableSuffix,
        limits: options.limits,
        clockOffset: options.clockOffset,
        onRequest: options.onRequest,
        functionLog: options.functionLog,
      },
      async (made) => seed?.({ endpoints, outputs: made }) ?? {},
    ),
    ({ close }) => close(),
  )
  requests.align(handlers.api.routes.map(({ resource }) => resource))
  gateway.serve(handlers)
  track(closing, (controller) => controller.abort())
  // Tracked twice, so that the gateway closes first: no request is in flight when the rest is disposed of.
  track(gateway, ({ close }) => close())

  const resources = cleanups.move()
  let closed: Promise<void> | undefined
  return {
    baseUrl,
    outputs,
    endpoints,
    functions,
    smsOutboxUrl: `${baseUrl}/_local/sms`,
    emailInboxUrl: `${baseUrl}/_local/emails`,
    close: () => {
      closed ??= resources.disposeAsync()
      return closed
    },
  }
}

const localSettings = ({ domain: hasDomain = true }: LocalStackOptions): Omit<AppContext, 'stage'> => {
  return hasDomain ? LOCAL_SETTINGS : { ...LOCAL_SETTINGS, domain: null, certificateArn: null }
}

/** Variables of the functions in addition to the variables of the template. */
const environmentOf = ({
  allowedWebhookHost,
  clockOffset,
  environment,
}: LocalStackOptions): Record<string, string> => ({
  ...(allowedWebhookHost !== undefined && { ALLOWED_WEBHOOK_HOST: allowedWebhookHost }),
  ...(clockOffset && { CLOCK_OFFSET_MS: String(clockOffset[0]) }),
  ...environment,
})

/** When one part does not start, aborts the others and waits until they have settled. */
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

/**
 * Sets the time zone of this process to UTC, as on Lambda. Threads have the time zone of their process. Returns a
 * function that restores the previous time zone.
 */
function runInUtc(): () => void {
  const { TZ } = process.env
  process.env.TZ = 'UTC'
  return () => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  }
}
