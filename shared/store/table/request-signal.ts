import { AsyncLocalStorage } from 'node:async_hooks'

/** Available to every call that a request makes, so that stores need not pass it as a parameter. */
const signals = new AsyncLocalStorage<AbortSignal>()

/** Runs work whose table calls end when `signal` aborts, so that nothing continues after the response was sent. */
export const withRequestSignal = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
  signals.run(signal, work)

/** The signal of the request that is being served; undefined outside of one. */
export const requestSignal = (): AbortSignal | undefined => signals.getStore()
