import { unauthorized } from '../api/errors.ts'
import { type Credential, type CredentialPair, parseAuthorization } from '../domain/credential.ts'
import type { Middleware } from './call.ts'
import { headerValues } from './headers.ts'

/** Anything else that is sent as a key may be a password or a name, and is not logged. */
const ISSUED_KEY = /^ck_[\w-]{1,64}$/

/** Authenticates the request. `onRefused` is called for a key that is not valid. Any problem with the credential returns the same 401. */
export function authenticate(
  verifyCredential: (pair: CredentialPair) => Promise<Credential | null>,
  onRefused: (key: string) => void,
): Middleware {
  return {
    before: async ({ event, context }) => {
      const pair = pairOf(headerValues(event, 'authorization'))
      const credential = pair && (await verifyCredential(pair))
      if (!credential) {
        if (pair && ISSUED_KEY.test(pair.key)) {
          context.call.refusedKey = pair.key
          onRefused(pair.key)
        }
        throw unauthorized()
      }
      context.call.credential = credential
    },
  }
}

const pairOf = ([value, ...more]: readonly string[]): CredentialPair | null =>
  value !== undefined && more.length === 0 ? parseAuthorization(value) : null
