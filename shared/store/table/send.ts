import { isUnavailable, UnavailableError } from './errors.ts'
import { requestSignal } from './request-signal.ts'

type SendOptions = { readonly abortSignal?: AbortSignal }

export type Send = <T>(call: (options: SendOptions) => Promise<T>) => Promise<T>

/** Makes a call end with its request. @throws UnavailableError when the store throttles or cannot be reached */
export const send: Send = async (call) => {
  try {
    return await sendRaw(call)
  } catch (error) {
    throw isUnavailable(error) ? new UnavailableError(error) : error
  }
}

/** The same with the SDK's own errors. */
export const sendRaw: Send = (call) => {
  const signal = requestSignal()
  return call(signal ? { abortSignal: signal } : {})
}
