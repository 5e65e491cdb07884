import { describeFailure, diagnosticsIn } from './output.ts'
import type { FunctionSpec } from './spec.ts'
import {
  type AwsRequest,
  type ClockOffset,
  type FunctionError,
  type FunctionWorker,
  type Result,
  startWorker,
} from './worker.ts'

/** The result of an invocation, and lines about it that a person should see. */
export type Outcome = Result & { readonly diagnostics: readonly string[] }

export type FunctionPool = {
  readonly name: string
  readonly invoke: (event: string, traceId?: string) => Promise<Outcome>
  /** Ends all environments as a crash does: running invocations fail, and the next one starts a fresh environment. */
  readonly kill: () => Promise<void>
  /** Applies new code or configuration. Running invocations finish with the previous version. */
  readonly update: (spec: FunctionSpec) => void
  readonly close: () => Promise<void>
}

type PoolOptions = {
  /** Receives what the function writes, by log group. */
  readonly writeLogs?: (logGroup: string, text: string) => void
  readonly clockOffset?: ClockOffset | undefined
  /** Receives the requests that the function sends to AWS. */
  readonly onRequest?: ((request: AwsRequest) => void) | undefined
  /** The batches of queues that it processes at a time. */
  readonly batches?: number
}

/** Execution environments per function, unless its queues need more; on Lambda, a thousand. */
const MAX_WORKERS = 4
/** Environments beyond the first take about 25 MB each, and end after this time without an invocation. */
const IDLE_TIMEOUT_MS = 10_000

/** Runs a function in threads of this process, each with one invocation at a time. Threads start on demand and stay warm. */
export function createFunctionPool(
  initial: FunctionSpec,
  print: (line: string) => void,
  { writeLogs = () => {}, clockOffset, onRequest, batches = 0 }: PoolOptions = {},
): FunctionPool {
  let spec = initial
  let closed = false
  const workers = new Map<FunctionWorker, WorkerState>()
  const waiting: ((worker: FunctionWorker | null) => void)[] = []

  const start = (): FunctionWorker => {
    const state: WorkerState = { output: '', busy: true }
    const { logGroup } = spec
    const worker = startWorker(spec, {
      onOutput: (text) => {
        writeLogs(logGroup, text)
        if (state.busy) state.output += text
        else for (const line of diagnosticsIn(text)) print(`${spec.id}: ${line}`)
      },
      clockOffset,
      onRequest,
    })
    workers.set(worker, state)
    return worker
  }

  const end = (worker: FunctionWorker): Promise<void> => {
    workers.delete(worker)
    return worker.stop()
  }

  const stripDirectory = (line: string) => line.replaceAll(`${spec.assetDirectory}/`, '')
  const isUsable = (worker: FunctionWorker) => worker.isAlive() && worker.version === spec.version
  const idleWorkers = () => [...workers].filter(([, { busy }]) => !busy)
  const endUnusable = () => {
    for (const [worker] of idleWorkers()) if (!isUsable(worker)) void end(worker)
  }

  /** A worker must be marked busy in the tick in which it was found idle, so this function is not async. */
  const acquire = (): Promise<FunctionWorker | null> => {
    if (closed) return Promise.resolve(null)
    endUnusable()
    const [free] = idleWorkers()
    if (free) {
      const [worker, state] = free
      state.busy = true
      clearTimeout(state.idleTimer)
      return Promise.resolve(worker)
    }
    // A batch that takes long must not hold up the batches of other queues.
    if (workers.size < Math.max(MAX_WORKERS, batches)) return Promise.resolve(start())
    return new Promise((resolve) => waiting.push(resolve))
  }

  const release = (worker: FunctionWorker, state: WorkerState): void => {
    const next = waiting.shift()
    if (closed || !isUsable(worker)) {
      void end(worker)
      next?.(closed ? null : start())
    } else if (next) {
      next(worker)
    } else {
      state.busy = false
      state.idleTimer = setTimeout(() => {
        if (workers.has(worker) && idleWorkers().length > 1) void end(worker)
      }, IDLE_TIMEOUT_MS).unref()
    }
  }

  return {
    name: initial.id,
    invoke: async (event, traceId = '') => {
      const worker = await acquire()
      const state = worker && workers.get(worker)
      if (!worker || !state) return { ok: false, error: CLOSED, diagnostics: [] }
      state.output = ''
      const result = await worker.invoke(event, traceId)
      const failure = result.ok ? [] : describeFailure(result.error)
      const diagnostics = [...diagnosticsIn(state.output), ...failure].map(stripDirectory)
      release(worker, state)
      return { ...result, diagnostics }
    },
    kill: async () => {
      await Promise.all([...workers].map(([worker, { busy }]) => (busy ? worker.kill() : end(worker))))
    },
    update: (next) => {
      spec = next
      endUnusable()
    },
    close: async () => {
      closed = true
      for (const resolve of waiting.splice(0)) resolve(null)
      await Promise.all([...workers.keys()].map(end))
    },
  }
}

type WorkerState = { output: string; busy: boolean; idleTimer?: NodeJS.Timeout }

const CLOSED: FunctionError = { errorType: 'Closed', errorMessage: 'The local stack is closing', trace: [] }
