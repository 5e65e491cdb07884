import type { Credential } from '../domain/credential.ts'
import type { Middleware } from './call.ts'

/** Notes when a credential was last used, beside the request's own work. */
export function recordUse(record: (credential: Credential) => Promise<void>): Middleware {
  return {
    before: ({ context: { call } }) => {
      // A note that fails is lost, and the request is not.
      if (call.credential) call.backgroundWrites.push(record(call.credential).catch(() => undefined))
    },
  }
}
