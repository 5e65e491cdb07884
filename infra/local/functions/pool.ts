import { describeFailure, diagnosticsIn } from './output.ts'
import { openScheduler, type ScheduledFunction, type Scheduler } from './scheduler.ts'
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

export type FunctionPool = ReturnType<typeof createFunctionPool>

type PoolOptions = {
  /** Receives what the function writes, by log group. */
  readonly writeLogs?: (logGroup: string, text: string) => void
  readonly clockOffset?: ClockOffset | undefined
  /** Receives the requests that the function sends to AWS. */
  readonly onRequest?: ((request: AwsRequest) => void) | undefined
  /** The batches of queues that it processes at a time. */
  readonly batches?: number
  /** Shared by all functions of a stack. */
  readonly scheduler?: Scheduler
}

/** Execution environments per function, unless its queues need more; on Lambda, a thousand. */
const MAX_ENVIRONMENTS = 4
/** An environment takes 15 to 25 MB. It ends after this time without an invocation, the last one of a function later. */
const IDLE_TIMEOUT_MS = 10_000
const LAST_IDLE_TIMEOUT_MS = 5 * 60_000

/** Runs a function in threads of this process, each with one invocation at a time. Threads start on demand and stay warm. */
export function createFunctionPool(
  spec: FunctionSpec,
  print: (line: string) => void,
  {
    writeLogs = () => {},
    clockOffset,
    onRequest,
    batches = 0,
    scheduler = openScheduler(),
  }: PoolOptions = {},
) {
  let closed = false
  let loadedAt = 0
  const workers = new Map<FunctionWorker, WorkerState>()
  const waiting: Waiting[] = []
  const stripDirectory = (line: string) => line.replaceAll(`${spec.assetDirectory}/`, '')
  const workersIn = (phase: Phase) => [...workers].filter(([, state]) => state.phase === phase)
  const longestIdle = () => workersIn('idle').sort(([, a], [, b]) => a.since - b.since)[0]
  const enter = (phase: Phase, state: WorkerState): void => {
    state.phase = phase
    state.since = performance.now()
  }

  const start = (): void => {
    const state: WorkerState = { output: '', phase: 'loading', since: performance.now() }
    const { logGroup } = spec
    const show = (text: string): void => {
      if (state.phase !== 'idle') state.output += text
      else for (const line of diagnosticsIn(text)) print(`${spec.id}: ${line}`)
    }
    const worker = startWorker(spec, {
      onOutput: (text) => {
        writeLogs(logGroup, text)
        show(text)
      },
      onException: (error) => show(`${describeFailure(error).join('\n')}\n`),
      clockOffset,
      onRequest,
    })
    workers.set(worker, state)
    void worker.loaded.then(() => {
      loadedAt = performance.now()
      // The invocation fails with the error of a bundle that cannot be loaded.
      if (workers.has(worker) && !worker.isAlive() && waiting.length > 0) assign(worker, state)
      else release(worker, state)
    })
  }

  const end = (worker: FunctionWorker): Promise<void> => {
    const state = workers.get(worker)
    workers.delete(worker)
    clearTimeout(state?.idleTimer)
    return worker.stop()
  }

  const endCrashed = () => {
    for (const [worker] of workersIn('idle')) if (!worker.isAlive()) void end(worker)
  }

  const assign = (worker: FunctionWorker, state: WorkerState): void => {
    enter('busy', state)
    clearTimeout(state.idleTimer)
    waiting.shift()?.resolve(worker)
  }

  const release = (worker: FunctionWorker, state: WorkerState): void => {
    if (!workers.has(worker)) return
    enter('idle', state)
    if (worker.isAlive()) endAfter(IDLE_TIMEOUT_MS, worker, state)
    else void end(worker)
    scheduler.schedule()
  }

  const endAfter = (ms: number, worker: FunctionWorker, state: WorkerState): void => {
    state.idleTimer = setTimeout(() => {
      if (ms === LAST_IDLE_TIMEOUT_MS || workersIn('idle').length > 1) void end(worker)
      else endAfter(LAST_IDLE_TIMEOUT_MS, worker, state)
    }, ms).unref()
  }

  const scheduled: ScheduledFunction = {
    waiting,
    get loading() {
      return workersIn('loading').map(([, { since }]) => since)
    },
    get idle() {
      return workersIn('idle').length
    },
    get idleSince() {
      return longestIdle()?.[1].since ?? Number.POSITIVE_INFINITY
    },
    get busy() {
      return workersIn('busy').length
    },
    get loadedAt() {
      return loadedAt
    },
    // A batch that takes long must not hold up the batches of other queues.
    maxEnvironments: Math.max(MAX_ENVIRONMENTS, batches),
    isPolled: batches > 0,
    run: () => {
      // One may have crashed since it became idle.
      endCrashed()
      const [free] = workersIn('idle')
      if (free) assign(...free)
    },
    start,
    endIdle: () => {
      const idle = longestIdle()
      if (idle) void end(idle[0])
    },
  }
  scheduler.add(scheduled)

  /** Null if the invocation is abandoned, or the pool is closed, before there is an environment for it. */
  const acquire = (abandoned: AbortSignal | undefined): Promise<FunctionWorker | null> =>
    new Promise((resolve) => {
      if (closed || abandoned?.aborted) return resolve(null)
      const invocation = { since: performance.now(), resolve }
      waiting.push(invocation)
      endCrashed()
      scheduler.schedule()
      abandoned?.addEventListener('abort', () => {
        const at = waiting.indexOf(invocation)
        if (at !== -1) waiting.splice(at, 1)
        resolve(null)
      })
    })

  return {
    name: spec.id,
    /** Does not run the function if `abandoned` is aborted before that. */
    invoke: async (event: string, traceId = '', abandoned?: AbortSignal): Promise<Outcome> => {
      const worker = await acquire(abandoned)
      const state = worker && workers.get(worker)
      if (!worker || !state) return { ok: false, error: closed ? CLOSED : ABANDONED, diagnostics: [] }
      const result = await worker.invoke(event, traceId)
      const failure = result.ok ? [] : describeFailure(result.error)
      const diagnostics = [...diagnosticsIn(state.output), ...failure].map(stripDirectory)
      state.output = ''
      release(worker, state)
      return { ...result, diagnostics }
    },
    /** Ends all environments as a crash does: running invocations fail, and the next one starts a fresh environment. */
    kill: async () => {
      await Promise.all(
        [...workers].map(([worker, { phase }]) => (phase === 'busy' ? worker.kill() : end(worker))),
      )
      scheduler.schedule()
    },
    close: async (): Promise<void> => {
      closed = true
      scheduler.remove(scheduled)
      for (const { resolve } of waiting.splice(0)) resolve(null)
      await Promise.all([...workers.keys()].map(end))
    },
  }
}

/** Invokes a function asynchronously: its result is dropped, and errors are logged. There are no retries. */
export async function invokeAsync(
  pool: FunctionPool,
  event: string,
  log: (line: string) => void,
): Promise<void> {
  const { diagnostics } = await pool.invoke(event)
  for (const line of diagnostics) log(`${pool.name}: ${line}`)
}

type Waiting = { readonly since: number; readonly resolve: (worker: FunctionWorker | null) => void }

type Phase = 'loading' | 'idle' | 'busy'

type WorkerState = {
  output: string
  phase: Phase
  /** When the phase began. */
  since: number
  idleTimer?: NodeJS.Timeout
}

const CLOSED: FunctionError = { errorType: 'Closed', errorMessage: 'The local stack is closing', trace: [] }
/** The error of an invocation that did not run, since its client disconnected. */
export const ABANDONED: FunctionError = {
  errorType: 'Abandoned',
  errorMessage: 'The client disconnected before the function was invoked',
  trace: [],
}
