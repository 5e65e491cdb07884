import { isUnavailable, UnavailableError } from './errors.ts'
import { withRequestSignal } from './request-signal.ts'

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
