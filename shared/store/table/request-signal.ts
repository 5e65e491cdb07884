import { AsyncLocalStorage } from 'node:async_hooks'
import { isUnavailable, UnavailableError } from './errors.ts'

type Request = { readonly signal: AbortSignal; readonly deadline: number; readonly id: string | undefined }

/** Available to every call that a request makes, so that stores need not pass it as a parameter. */
const requests = new AsyncLocalStorage<Request>()

/**
 * Runs work whose table calls end when `signal` aborts, so that nothing continues after the response was sent. After
 * `msLeft` milliseconds, nothing is retried, and optional work ends.
 */
export const withRequestSignal = <T>(
  signal: AbortSignal,
  work: () => T,
  msLeft = Number.POSITIVE_INFINITY,
  id?: string,
): T => requests.run({ signal, deadline: performance.now() + msLeft, id }, work)

const leases = new AsyncLocalStorage<() => AbortSignal>()

/** Runs work whose table calls end when a lease is lost. The signal is read before each call, even after a suspension. */
export const withLeaseSignal = <T>(signal: () => AbortSignal, work: () => T): T => leases.run(signal, work)

/** The signal of the lease under which work runs; undefined without a lease. */
export const leaseSignal = (): AbortSignal | undefined => leases.getStore()?.()

/** The signal of the request that is being served; undefined outside of one. */
export const requestSignal = (): AbortSignal | undefined => requests.getStore()?.signal

/** The id of the request that is being served; undefined outside of one. */
export const requestId = (): string | undefined => requests.getStore()?.id

/** The time, by `performance.now()`, after which the request that is being served retries nothing. */
export const requestDeadline = (): number => requests.getStore()?.deadline ?? Number.POSITIVE_INFINITY

/** Runs work that the response does not depend on. Its table calls end at the request's deadline. */
export function optionalWork<T>(work: () => Promise<T>): Promise<T> {
  const request = requests.getStore()
  if (!request || request.deadline === Number.POSITIVE_INFINITY) return work()
  const msLeft = Math.max(0, Math.floor(request.deadline - performance.now()))
  const timeout = AbortSignal.timeout(msLeft)
  return requests.run({ ...request, signal: AbortSignal.any([request.signal, timeout]) }, work)
}

const unrepeated = new AsyncLocalStorage<true>()

/** Runs a call that is not sent again once it was throttled: its caller has no time to wait, and the item no capacity. */
export const withoutThrottlingRetries = <T>(call: () => T): T => unrepeated.run(true, call)

export const repeatsThrottledCalls = (): boolean => unrepeated.getStore() === undefined

type StoreFunctions = Record<string, (...parameters: never[]) => Promise<unknown>>

/** The functions of a store, each of which throws UnavailableError when its calls of the table take longer than `ms`. */
export const withTimeLimit = <S extends StoreFunctions>(ms: number, store: S): S =>
  Object.fromEntries(Object.entries(store).map(([name, work]) => [name, limited(ms, work)])) as S

const limited =
  (ms: number, work: StoreFunctions[string]): StoreFunctions[string] =>
  async (...parameters) => {
    try {
      return await withRequestSignal(AbortSignal.timeout(ms), () => work(...parameters))
    } catch (error) {
      throw isUnavailable(error) ? new UnavailableError(error) : error
    }
  }
