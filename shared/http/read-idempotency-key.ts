import { IDEMPOTENCY_HEADERS } from '../api/aliases.ts'
import { ApiError } from '../api/errors.ts'
import type { Middleware } from './call.ts'
import { headerOf } from './headers.ts'

/** Reads the Idempotency-Key header, which identifies repetitions of a request. It may be sent under both of its names. */
export function readIdempotencyKey(): Middleware {
  return {
    before: ({ event, context: { call } }) => {
      const sent = IDEMPOTENCY_HEADERS.map((name) => headerOf(event, name)).filter((key) => key !== undefined)
      const [key, alias = key] = sent
      if (key === undefined) return
      if (key !== alias) throw new ApiError('conflicting_idempotency_keys')
      if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw new ApiError('invalid_idempotency_key')
      call.idempotencyKey = key
    },
  }
}
