import type { ClinicInfo } from './clinic.ts'
import type { Scope } from './scope.ts'

/** An integrator's credential, without its secret (spec section 5). Times are ISO 8601 instants in UTC. */
export type Credential = {
  readonly key: string
  readonly name: string
  readonly clinic: ClinicInfo
  readonly scopes: readonly Scope[]
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  /** To the hour. */
  readonly lastUsedAt: string | null
  /** Null is the default of the stage. */
  readonly requestsPerMinute: number | null
}

/** A request's credential pair as it was sent. */
export type CredentialPair = { readonly key: string; readonly secret: string }

/** Visible ASCII without the colon that separates key and secret. */
const AUTHORIZATION_PATTERN = /^developer ([\x21-\x39\x3b-\x7e]+):([\x21-\x39\x3b-\x7e]+)$/i

/** No key or secret that was ever issued is longer. */
const MAX_HEADER_LENGTH = 512

/** Reads `Developer <key>:<secret>`: exactly one space and one colon; null for anything else. */
export function parseAuthorization(header: string): CredentialPair | null {
  if (header.length > MAX_HEADER_LENGTH) return null
  const [, key, secret] = AUTHORIZATION_PATTERN.exec(header) ?? []
  return key && secret ? { key, secret } : null
}

/** Whether a credential may act at `now` (milliseconds since the epoch). */
export const isActive = (credential: Credential, now: number): boolean =>
  credential.revokedAt === null && (credential.expiresAt === null || now < Date.parse(credential.expiresAt))
