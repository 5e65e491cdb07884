import { isUnavailable, UnavailableError } from './errors.ts'
import { abortOption } from './request-scope.ts'

/** Makes a call that ends with its scope. @throws UnavailableError when the store throttles or cannot be reached */
export async function send<T>(call: (options: ReturnType<typeof abortOption>) => Promise<T>): Promise<T> {
  try {
    return await call(abortOption())
  } catch (error) {
    throw isUnavailable(error) ? new UnavailableError(error) : error
  }
}
