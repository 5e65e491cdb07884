import { AsyncLocalStorage } from 'node:async_hooks'

/** Follows a request through all of its calls, so that no store has to pass it on. */
const signals = new AsyncLocalStorage<AbortSignal>()

/** Runs work whose calls of the table end when `signal` aborts: nothing goes on once its request has been answered. */
export const withRequestSignal = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
  signals.run(signal, work)

/** The signal of the request that is being served; undefined outside of one. */
export const requestSignal = (): AbortSignal | undefined => signals.getStore()
