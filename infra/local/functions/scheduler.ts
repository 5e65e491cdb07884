import { availableParallelism } from 'node:os'

/** Bounds for a machine with few cores. On Lambda, each is far higher. */
export type Limits = {
  /** Environments of all functions that load at a time, each for at most `loadingMs`: one that never ends must not hold up others. */
  readonly loading: number
  readonly loadingMs: number
  /** Environments of all functions, unless more are busy. An idle one ends for a new one beyond them. */
  readonly environments: number
  /**
   * Invocations of all functions that run at a time, except those of queues' batches. More than the cores can run would only take
   * longer, in more environments; but some wait for a provider.
   */
  readonly running: number
  /** Invocations that wait for an environment. The gateway rejects requests beyond them. */
  readonly waiting: number
  /** How long an invocation waits before its function gets another environment. */
  readonly scaleOutMs: number
}

const LOCAL_LIMITS: Limits = {
  loading: 2,
  loadingMs: 2000,
  environments: 18,
  running: 3 * availableParallelism(),
  waiting: 500,
  scaleOutMs: 200,
}

/** The environments of a function, and the invocations that wait for one. */
export type FunctionLoad = {
  /** In milliseconds of the scheduler's clock, oldest first. */
  readonly waiting: readonly { readonly since: number }[]
  /** Since when its environments load, oldest first. */
  readonly loading: readonly number[]
  readonly idle: number
  /** Since when one has not been used; infinite without an idle one. */
  readonly idleSince: number
  readonly busy: number
  /** When its newest environment was loaded. */
  readonly loadedAt: number
  readonly maxEnvironments: number
  /** Whether queues feed it. Their pollers bound it, and its batches may wait for requests of webhooks' receivers. */
  readonly isPolled: boolean
}

type Step<F> =
  /** The function's oldest waiting invocation gets an idle environment. */
  | { readonly run: F }
  /** The function gets another environment, and the one that has been idle longest ends if there are too many. */
  | { readonly start: F; readonly end: F | undefined }
  /** Nothing happens before this time, unless an invocation arrives or an environment becomes free. */
  | { readonly at: number }

export function nextStep<F extends FunctionLoad>(
  functions: readonly F[],
  limits: Limits,
  now: number,
): Step<F> {
  const waited = functions.filter(({ waiting }) => waiting.length > 0)
  if (waited.length === 0) return { at: Number.POSITIVE_INFINITY }
  const running = functions.reduce((sum, { busy, isPolled }) => (isPolled ? sum : sum + busy), 0)
  const queued = waited
    .filter(({ isPolled }) => isPolled || running < limits.running)
    .sort((one, other) => (one.waiting[0]?.since ?? 0) - (other.waiting[0]?.since ?? 0))
  const ready = queued.find(({ idle }) => idle > 0)
  if (ready) return { run: ready }
  const loaded = functions.flatMap(({ loading }) => loading.map((since) => since + limits.loadingMs))
  // The place that becomes free first is that of the oldest of as many as may load.
  const placeAt = loaded.sort((a, b) => b - a)[limits.loading - 1] ?? Number.NEGATIVE_INFINITY
  const due = queued.map((one) => ({ one, at: scaleOutAt(one, limits) })).sort((a, b) => a.at - b.at)[0]
  if (!due) return { at: Number.POSITIVE_INFINITY }
  const at = Math.max(due.at, placeAt)
  return at <= now ? { start: due.one, end: longestIdle(functions, limits) } : { at }
}

/** The function with the environment that has been idle longest, if there are as many as may be. */
function longestIdle<F extends FunctionLoad>(functions: readonly F[], limits: Limits): F | undefined {
  const environments = functions.reduce((sum, one) => sum + environmentsOf(one), 0)
  if (environments < limits.environments) return undefined
  return functions.filter(({ idle }) => idle > 0).sort((a, b) => a.idleSince - b.idleSince)[0]
}

const environmentsOf = ({ loading, idle, busy }: FunctionLoad): number => loading.length + idle + busy

/**
 * When a function with a queue gets another environment: the first one at once, further ones when an invocation has waited
 * that no loading environment will take. Each new environment first gets that time to shorten the queue.
 */
function scaleOutAt(one: FunctionLoad, { scaleOutMs }: Limits): number {
  const { waiting, loading, loadedAt, maxEnvironments } = one
  const environments = environmentsOf(one)
  if (environments === 0) return Number.NEGATIVE_INFINITY
  const surplus = waiting[loading.length]
  if (!surplus || environments >= maxEnvironments) return Number.POSITIVE_INFINITY
  return Math.max(surplus.since, loadedAt) + scaleOutMs
}

/** A function whose invocations the scheduler runs. */
export type ScheduledFunction = FunctionLoad & {
  readonly run: () => void
  readonly start: () => void
  /** Ends the environment that has been idle longest. */
  readonly endIdle: () => void
}

export type Scheduler = ReturnType<typeof openScheduler>

/** Schedules the invocations of all functions of a runner. */
export function openScheduler(overrides: Partial<Limits> = {}) {
  const limits = { ...LOCAL_LIMITS, ...overrides }
  const functions = new Set<ScheduledFunction>()
  let timer: NodeJS.Timeout | undefined

  /** To be called when an invocation has arrived, or an environment was loaded, released or ended. */
  const schedule = (): void => {
    clearTimeout(timer)
    for (;;) {
      const now = performance.now()
      const step = nextStep([...functions], limits, now)
      if ('run' in step) step.run.run()
      else if ('start' in step) {
        step.end?.endIdle()
        step.start.start()
      } else {
        if (step.at < Number.POSITIVE_INFINITY) timer = setTimeout(schedule, step.at - now).unref()
        return
      }
    }
  }

  return {
    add: (one: ScheduledFunction) => functions.add(one),
    remove: (one: ScheduledFunction) => {
      functions.delete(one)
      schedule()
    },
    schedule,
    /** Whether as many invocations wait as may. */
    isFull: () => [...functions].reduce((sum, { waiting }) => sum + waiting.length, 0) >= limits.waiting,
  }
}
