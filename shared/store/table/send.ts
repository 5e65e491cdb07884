import { isUnavailable, UnavailableError } from './errors.ts'
import { leaseSignal, requestSignal } from './request-signal.ts'

type SendOptions = { readonly abortSignal?: AbortSignal }

export type TableSend = <T>(call: (options: SendOptions) => Promise<T>, signal?: AbortSignal) => Promise<T>

/** Makes a call end with its request. @throws UnavailableError when the store throttles or cannot be reached */
export const send: TableSend = async (call) => {
  try {
    return await sendRaw(call)
  } catch (error) {
    throw isUnavailable(error) ? new UnavailableError(error) : error
  }
}

/** Makes a call end with its request, with its lease, and with `signal`. Errors of the SDK are thrown unchanged. */
export const sendRaw: TableSend = (call, signal) => {
  const signals = [requestSignal(), leaseSignal(), signal].filter((one) => one !== undefined)
  return call(signals.length === 0 ? {} : { abortSignal: AbortSignal.any(signals) })
}
