import { AsyncLocalStorage } from 'node:async_hooks'
import { isUnavailable, UnavailableError } from './errors.ts'

/** What ends the calls of the table that a piece of work makes. */
type Scope = {
  /** A function is called before each call, so that a process that was suspended notices that it has lost its lease. */
  readonly signals: readonly (AbortSignal | (() => AbortSignal))[]
  /** The time, by `performance.now()`, after which nothing is retried, and optional work ends. */
  readonly deadline: number
  /** The request that is being served; undefined outside of one. */
  readonly requestId: string | undefined
  /** Whether calls that are throttled are sent again. False if the caller cannot wait for a hot item. */
  readonly repeatsThrottled: boolean
  /** Called with the error of optional work that failed before its time was up. */
  readonly onOptionalFailure: (error: unknown) => void
}

const UNLIMITED: Scope = {
  signals: [],
  deadline: Number.POSITIVE_INFINITY,
  requestId: undefined,
  repeatsThrottled: true,
  onOptionalFailure: () => {},
}

/** Available to every call that work makes, so that stores need not pass it as a parameter. */
const scopes = new AsyncLocalStorage<Scope>()

export const currentScope = (): Scope => scopes.getStore() ?? UNLIMITED

/** Runs work in a narrower scope: its calls end when `signal`, or a signal of an outer scope, aborts. */
export function withScope<T>(
  { signal, deadline, ...part }: Partial<Omit<Scope, 'signals'>> & { signal?: Scope['signals'][number] },
  work: () => T,
): T {
  const outer = currentScope()
  const signals = signal ? [...outer.signals, signal] : outer.signals
  return scopes.run(
    { ...outer, ...part, signals, deadline: Math.min(outer.deadline, deadline ?? outer.deadline) },
    work,
  )
}

/** The option of a call that ends it with its scope, and with `signal`. */
export function abortOption(signal?: AbortSignal): { readonly abortSignal?: AbortSignal } {
  const signals = signal ? [signal] : []
  for (const one of currentScope().signals) signals.push(typeof one === 'function' ? one() : one)
  return signals.length === 0 ? {} : { abortSignal: AbortSignal.any(signals) }
}

/** Runs work that the response does not depend on. Its table calls end at the request's deadline. Its errors are reported. */
export async function optionalWork(work: () => Promise<unknown>): Promise<void> {
  const { deadline, onOptionalFailure } = currentScope()
  const msLeft = Math.max(0, Math.floor(deadline - performance.now()))
  const limit = deadline === Number.POSITIVE_INFINITY ? {} : { signal: AbortSignal.timeout(msLeft) }
  await withScope(limit, work).catch((error) => {
    // The timer can be a millisecond early.
    if (!limit.signal?.aborted && performance.now() < deadline) onOptionalFailure(error)
  })
}

type StoreFunctions = Record<string, (...parameters: never[]) => Promise<unknown>>

/** The functions of a store, each of which throws UnavailableError when its calls of the table take longer than `ms`. */
export const withTimeLimit = <S extends StoreFunctions>(ms: number, store: S): S =>
  Object.fromEntries(Object.entries(store).map(([name, work]) => [name, limited(ms, work)])) as S

const limited =
  (ms: number, work: StoreFunctions[string]): StoreFunctions[string] =>
  async (...parameters) => {
    try {
      return await withScope({ signal: AbortSignal.timeout(ms) }, () => work(...parameters))
    } catch (error) {
      throw isUnavailable(error) ? new UnavailableError(error) : error
    }
  }
