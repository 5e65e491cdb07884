/** How credentials are printed. */
import { type Credential, type CredentialWithUse, isActive } from '../../../shared/domain/credential.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'

/** The cells of a credential in a list. */
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
