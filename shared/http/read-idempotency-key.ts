import { ApiError } from '../api/errors.ts'
import type { Middleware } from './call.ts'
import { headerOf } from './headers.ts'

/** Reads the Idempotency-Key header, which identifies repetitions of a request. */
export function readIdempotencyKey(): Middleware {
  return {
    before: ({ event, context: { call } }) => {
      const key = headerOf(event, 'idempotency-key')
      if (key === undefined) return
      if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw new ApiError('invalid_idempotency_key')
      call.idempotencyKey = key
    },
  }
}
