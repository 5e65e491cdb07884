/** Credentials as operators type and read them. */
import { type Credential, type CredentialWithUse, isActive } from '../../../shared/domain/credential.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import { CommandFailure } from '../tool/output.ts'

export function credentialCells(credential: CredentialWithUse): string[] {
  const at = localTimes(credential)
  const overlap = at(activeOverlap(credential))
  return [
    credential.key,
    credential.name,
    stateOf(credential),
    credential.expiresAt === null ? 'never expires' : `expires ${at(credential.expiresAt)}`,
    credential.requestsPerMinute === null ? 'default rate' : `${credential.requestsPerMinute}/min`,
    credential.lastUsedAt === null ? 'never used' : `last used ${at(credential.lastUsedAt)}`,
    ...(overlap === null ? [] : [`previous secret until ${overlap}`]),
    credential.scopes.join(','),
  ]
}

function stateOf(credential: Credential): string {
  if (credential.revokedAt) return 'revoked'
  return isActive(credential, Date.now()) ? 'active' : 'expired'
}

/** The time until which the previous secret is accepted; null if it is no longer accepted. */
const activeOverlap = ({ previousSecretUntil }: CredentialWithUse): string | null =>
  previousSecretUntil !== null && Date.parse(previousSecretUntil) > Date.now() ? previousSecretUntil : null

const localTimes =
  ({ clinic }: Credential) =>
  (instant: string | null): string | null =>
    instant && clinicTimestamp(instant, clinic.timezone)

export function credentialJson(credential: CredentialWithUse) {
  const at = localTimes(credential)
  return {
    key: credential.key,
    name: credential.name,
    clinic_id: credential.clinic.id,
    scopes: credential.scopes,
    requests_per_minute: credential.requestsPerMinute,
    created_at: at(credential.createdAt),
    expires_at: at(credential.expiresAt),
    last_used_at: at(credential.lastUsedAt),
    revoked_at: at(credential.revokedAt),
    previous_secret_until: at(activeOverlap(credential)),
  }
}

/** How a new secret is shown, which is not possible later. */
export const secretLines = (key: string, secret: string): string[] => [
  `key     ${key}`,
  `secret  ${secret}`,
  '',
  `The secret is not stored and not shown again. Use: Authorization: Developer ${key}:${secret}`,
]

const KEY = /^ck_[\w-]{1,64}$/

/** The key of a credential. A text that is not one is not repeated, because it may contain the secret. */
export function requireKey(text: string): string {
  if (KEY.test(text)) return text
  if (text.includes(':'))
    throw new CommandFailure(
      'Specify the key alone, which is the part before the colon. The secret is in the history of your shell now: if others can read that, replace it with "credential rotate".',
    )
  throw new CommandFailure('A key begins with ck_. "credential list" lists the keys of a clinic.')
}

export const unknownCredential = (key: string): CommandFailure =>
  new CommandFailure(`Credential ${key} does not exist. "credential list" lists the keys of a clinic.`)
