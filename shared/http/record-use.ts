import type { Credential } from '../domain/credential.ts'
import type { Middleware } from './call.ts'

/** Records when a credential was last used, alongside the request's own work. */
export function recordUse(record: (credential: Credential) => Promise<void>): Middleware {
  return {
    before: ({ context: { call } }) => {
      // A failed write must not fail the request.
      if (call.credential) call.backgroundWrites.push(record(call.credential).catch(() => undefined))
    },
  }
}
