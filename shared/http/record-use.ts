import type { Credential } from '../domain/credential.ts'
import type { Middleware } from './call.ts'

/**
 * Records when a credential was last used, alongside the request's own work. Only the first request that is counted in a
 * minute does, so that the others cost nothing more.
 */
export function recordUse(record: (credential: Credential) => Promise<void>): Middleware {
  return {
    before: ({ context: { call } }) => {
      const { credential, requestCount } = call
      if (!credential || !requestCount) return
      const recorded = requestCount.then((count) => (count?.minute === 1 ? record(credential) : undefined))
      // A failed write must not fail the request.
      call.backgroundWrites.push(recorded.catch(() => undefined))
    },
  }
}
