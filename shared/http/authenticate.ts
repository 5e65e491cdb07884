import { unauthorized } from '../api/errors.ts'
import { type Credential, type CredentialPair, parseAuthorization } from '../domain/credential.ts'
import type { Middleware } from './call.ts'

/** Authenticates the request. Any problem with the credential returns the same 401. */
export function authenticate(
  verifyCredential: (pair: CredentialPair) => Promise<Credential | null>,
): Middleware {
  return {
    before: async ({ event, context }) => {
      const pair = pairOf(event.multiValueHeaders ?? {})
      const credential = pair && (await verifyCredential(pair))
      if (!credential) throw unauthorized()
      context.call.credential = credential
    },
  }
}

function pairOf(headers: Record<string, string[] | undefined>): CredentialPair | null {
  const values = Object.entries(headers).flatMap(([name, sent]) =>
    name.toLowerCase() === 'authorization' ? (sent ?? []) : [],
  )
  const [value] = values
  return value !== undefined && values.length === 1 ? parseAuthorization(value) : null
}
