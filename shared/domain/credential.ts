import type { ClinicInfo } from './clinic.ts'
import type { Scope } from './scope.ts'

/** An integrator's credential, without its secret. Times are ISO 8601 instants in UTC. */
export type Credential = {
  readonly key: string
  readonly name: string
  readonly clinic: ClinicInfo
  readonly scopes: readonly Scope[]
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  /** Null: the default of the stage. */
  readonly requestsPerMinute: number | null
}

/** A credential as the operator sees it. */
export type CredentialWithUse = Credential & {
  /** Accurate to the hour, and not before its creation; null if it was never used. */
  readonly lastUsedAt: string | null
  /** The time until which the secret before the last rotation is accepted, too; null if there was no rotation. */
  readonly previousSecretUntil: string | null
}

/**
 * The name of the deployment that issues a key, which is a part of the key: a router in front of several deployments
 * finds a request's own without a look-up.
 */
export const CELL_PATTERN = /^[a-z0-9]{1,8}$/
export const DEFAULT_CELL = 'a'

export type CredentialPair = { readonly key: string; readonly secret: string }

/** Key and secret are visible ASCII without a colon, which separates them. */
const AUTHORIZATION_PATTERN = /^developer ([\x21-\x39\x3b-\x7e]+):([\x21-\x39\x3b-\x7e]+)$/i

/** Longer than any header with an issued key and secret. */
const MAX_HEADER_LENGTH = 512

/** Parses `Developer <key>:<secret>` with exactly one space and one colon; null for anything else. */
export function parseAuthorization(header: string): CredentialPair | null {
  if (header.length > MAX_HEADER_LENGTH) return null
  const match = AUTHORIZATION_PATTERN.exec(header)
  return match && { key: match[1] ?? '', secret: match[2] ?? '' }
}

/** Whether a credential is valid at `now` (milliseconds since the epoch). */
export const isActive = (credential: Credential, now: number): boolean =>
  credential.revokedAt === null && (credential.expiresAt === null || now < Date.parse(credential.expiresAt))
