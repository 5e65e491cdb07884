import type { Credential } from '../domain/credential.ts'
import type { Link } from './call.ts'

/** Notes when a credential was last used, beside the request's own work. */
export function noteUse(note: (credential: Credential) => Promise<void>): Link {
  return {
    before: ({ context: { call } }) => {
      // A note that fails is lost, and the request is not.
      if (call.credential) call.beside.push(note(call.credential).catch(() => undefined))
    },
  }
}
