/** The arguments and options of commands about credentials. */
import * as z from 'zod'
import { singleLineText } from '../../../shared/domain/patients/text-fields.ts'
import { isScope, SCOPES, type Scope } from '../../../shared/domain/scope.ts'
import { parseInstant } from '../../../shared/domain/timestamp.ts'
import { CommandFailure, parseOption } from '../tool/output.ts'

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
