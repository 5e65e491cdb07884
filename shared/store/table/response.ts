import { isUnavailable, UnavailableError } from './errors.ts'

/** The response to a call. @throws UnavailableError when the store throttles or cannot be reached */
export async function responseTo<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    throw isUnavailable(error) ? new UnavailableError(error) : error
  }
}
