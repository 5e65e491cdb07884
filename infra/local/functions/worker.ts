import { randomUUID } from 'node:crypto'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type FunctionSpec, LOG_STREAM } from './spec.ts'

/** An error in the form of Lambda's Invoke response. */
export type FunctionError = {
  readonly errorType: string
  readonly errorMessage: string
  readonly trace: readonly string[]
}

export type Result =
  | { readonly ok: true; readonly payload: string }
  | { readonly ok: false; readonly error: FunctionError }

/** An execution environment. It runs one invocation at a time, and none after a crash. */
export type FunctionWorker = {
  readonly isAlive: () => boolean
  /** Resolves when the function can be invoked, or has crashed before that. */
  readonly loaded: Promise<void>
  /** To be called after it is loaded. Never rejects: a failure of the function is a result. */
  readonly invoke: (event: string, traceId: string) => Promise<Result>
  /** Ends the thread as a crash does: a running invocation fails. */
  readonly kill: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** A message from the thread. */
type Message =
  | { readonly ready: true }
  | { readonly output: string }
  | { readonly exception: FunctionError }
  | { readonly request: AwsRequest }
  | { readonly payload: string }
  | { readonly error: FunctionError }
  | { readonly unloadable: FunctionError }

/** A request that a function has sent to a service of AWS. */
export type AwsRequest = {
  /** The service that the request's signature names. */
  readonly service: string | undefined
  /** The header `x-amz-target`, which names the operation in JSON protocols. */
  readonly target: string | undefined
  readonly path: string
  readonly body: string
}

/** Lambda allows ten seconds to load the module, in addition to the timeout of the function. */
const INIT_TIMEOUT_MS = 10_000
/** Lambda's limit of a response in bytes, slightly above 6 MB. */
const MAX_PAYLOAD = 6_291_556

/** Node's default is four times as much, which every thread would fill under load. */
const MAX_YOUNG_MB = 12

/** Milliseconds that the functions' clocks are ahead of this process's, at index 0 of the shared memory. */
export type ClockOffset = Float64Array<SharedArrayBuffer>

type WorkerOptions = {
  readonly onOutput: (text: string) => void
  /** Receives the errors that the function handles. */
  readonly onException: (error: FunctionError) => void
  readonly clockOffset?: ClockOffset | undefined
  /** Receives every request to the endpoints of the function's environment. */
  readonly onRequest?: ((request: AwsRequest) => void) | undefined
}

/** Starts an environment. One whose thread cannot be started has crashed. */
export function startWorker(spec: FunctionSpec, options: WorkerOptions): FunctionWorker {
  try {
    return startThread(spec, options)
  } catch (error) {
    const result: Result = { ok: false, error: uncaughtError(error) }
    const end = async () => {}
    return {
      isAlive: () => false,
      loaded: Promise.resolve(),
      invoke: async () => result,
      kill: end,
      stop: end,
    }
  }
}

function startThread(
  spec: FunctionSpec,
  { onOutput, onException, clockOffset, onRequest }: WorkerOptions,
): FunctionWorker {
  const thread = new Worker(new URL('./worker.mjs', import.meta.url), {
    workerData: {
      assetDirectory: spec.assetDirectory,
      handler: spec.handler,
      context: contextOf(spec),
      clockOffset,
      ...(onRequest && { reportedEndpoints: endpointsOf(spec) }),
      // Beside the code, so that it goes with it.
      compileCache: join(dirname(spec.assetDirectory), 'compiled'),
    },
    env: spec.environment,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: spec.memoryMb, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
  })
  let isAlive = true
  let crash: FunctionError | undefined
  let settle: ((result: Result) => void) | undefined
  let isLoaded = false
  const { promise: loaded, resolve: resolveLoaded } = Promise.withResolvers<void>()
  const finishLoading = () => {
    isLoaded = true
    clearTimeout(limit)
    resolveLoaded()
  }
  const fail = (error: FunctionError) => settle?.({ ok: false, error })
  const markCrashed = (error: FunctionError) => {
    if (isAlive && isLoaded && !settle) onOutput(`${error.errorType}: ${error.errorMessage}\n`)
    isAlive = false
    crash ??= error
    fail(crash)
    finishLoading()
  }
  const failAfter = (ms: number, error: FunctionError) => setTimeout(() => markCrashed(error), ms)
  let limit = failAfter(INIT_TIMEOUT_MS, timeoutError(INIT_TIMEOUT_MS))
  thread.on('message', (message: Message) => {
    if ('output' in message) onOutput(message.output)
    else if ('exception' in message) onException(message.exception)
    else if ('request' in message) onRequest?.(message.request)
    else if ('ready' in message) finishLoading()
    else if ('payload' in message) settle?.({ ok: true, payload: message.payload })
    else if ('error' in message) fail(message.error)
    else markCrashed(message.unloadable)
  })
  thread.on('error', (error) => markCrashed(uncaughtError(error)))
  thread.on('exit', (code) => markCrashed(exitError(code)))

  const stop = async () => {
    isAlive = false
    await thread.terminate()
  }

  const kill = async () => {
    await thread.terminate()
  }

  const invoke = async (event: string, traceId: string): Promise<Result> => {
    const requestId = randomUUID()
    const { promise: result, resolve } = Promise.withResolvers<Result>()
    settle = resolve
    if (crash) fail(crash)
    limit = failAfter(spec.timeoutMs, timeoutError(spec.timeoutMs))
    thread.postMessage({ event, requestId, timeoutMs: spec.timeoutMs, traceId })
    const settled = await result
    settle = undefined
    clearTimeout(limit)
    if (!isAlive) void thread.terminate()
    return settled.ok && Buffer.byteLength(settled.payload) > MAX_PAYLOAD ? TOO_LARGE : settled
  }

  return { isAlive: () => isAlive, loaded, invoke, kill, stop }
}

const endpointsOf = ({ environment }: FunctionSpec): string[] =>
  Object.entries(environment).flatMap(([name, value]) =>
    name.startsWith('AWS_ENDPOINT_URL_') ? [value] : [],
  )

const contextOf = ({ name, arn, memoryMb, logGroup }: FunctionSpec) => ({
  functionName: name,
  functionVersion: '$LATEST',
  invokedFunctionArn: arn,
  memoryLimitInMB: String(memoryMb),
  logGroupName: logGroup,
  logStreamName: LOG_STREAM,
})

const timeoutError = (ms: number): FunctionError => ({
  errorType: 'Sandbox.Timedout',
  errorMessage: `Task timed out after ${(ms / 1000).toFixed(2)} seconds`,
  trace: [],
})

const uncaughtError = (error: unknown): FunctionError => {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error))
  return { errorType: name, errorMessage: message, trace: stack?.split('\n').slice(1) ?? [] }
}

const exitError = (code: number): FunctionError => ({
  errorType: 'Runtime.ExitError',
  errorMessage: `The function ended its process with exit code ${code}`,
  trace: [],
})

const TOO_LARGE: Result = {
  ok: false,
  error: {
    errorType: 'Function.ResponseSizeTooLarge',
    errorMessage: `The function's response is larger than Lambda's limit of ${MAX_PAYLOAD} bytes`,
    trace: [],
  },
}
