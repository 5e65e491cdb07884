/** The options of commands about credentials, and how credentials are printed. */
import * as z from 'zod'
import { type Credential, type CredentialWithUse, isActive } from '../../shared/domain/credential.ts'
import { isScope, SCOPES, type Scope } from '../../shared/domain/scope.ts'
import { singleLineText } from '../../shared/domain/text-fields.ts'
import { clinicTimestamp, parseInstant } from '../../shared/domain/timestamp.ts'
import { CommandFailure, parseOption } from './output.ts'

const Instant = z.iso.datetime({
  offset: true,
  error: 'must be a timestamp such as 2027-01-01T00:00:00+03:00',
})

const Rate = z.coerce
  .number({ error: 'must be a number of requests per minute' })
  .int({ error: 'must be a whole number' })
  .min(1, { error: 'must be at least 1' })
  .max(1_000_000, { error: 'must be at most 1000000' })

const Name = singleLineText(100).refine((name) => !/\bcs_[\w-]{8,}/.test(name), {
  error: 'must not contain the secret of a credential',
})

export const SCOPE_LIST = `"all", "none" or a comma-separated list of ${SCOPES.join(', ')}`

export const parseName = (text: string): string => parseOption('name', Name, text)

/** A number; null for `default`, the limit of the stage. */
export const parseRate = (text: string): number | null =>
  text === 'default' ? null : parseOption('rate', Rate, text)

/** An ISO 8601 instant; null for `never`. @throws CommandFailure for one that is past */
export const parseExpiry = (text: string): string | null =>
  text === 'never' ? null : parseFuture('expires', text)

/** @throws CommandFailure for an instant that is past */
export function parseFuture(option: string, text: string): string {
  const instant = parseInstant(parseOption(option, Instant, text))
  if (instant === null)
    throw new CommandFailure(`--${option} must be a timestamp such as 2027-01-01T00:00:00+03:00`)
  if (Date.parse(instant) <= Date.now())
    throw new CommandFailure(
      `--${option} is past: it must be in the future. To end the use of a credential now, revoke it.`,
    )
  return instant
}

export function parseScopes(text: string): Scope[] {
  if (text === 'all') return [...SCOPES]
  if (text === 'none') return []
  const names = text.split(',').map((name) => name.trim())
  const wrong = names.filter((name) => !isScope(name))
  if (wrong.length > 0)
    throw new CommandFailure(
      `--scopes: unknown scope ${wrong.join(', ')}. Valid scopes are ${SCOPES.join(', ')}.`,
    )
  return SCOPES.filter((scope) => names.includes(scope))
}

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

/** What a line of a list shows about a credential. */
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

/** Until when the previous secret is accepted; null if it is not any more. */
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
