/** Commands that change a credential which is in use. */
import type { Command } from 'commander'
import type { CredentialWithUse } from '../../shared/domain/credential.ts'
import {
  type CredentialChanges,
  credentialChanges,
  type RotationOutcome,
} from '../../shared/store/credential-changes.ts'
import { webhookStore } from '../../shared/store/events/webhooks.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { connect } from './connection.ts'
import {
  credentialJson,
  parseExpiry,
  parseFuture,
  parseName,
  parseRate,
  parseScopes,
  requireKey,
  SCOPE_LIST,
  secretLines,
  unknownCredential,
} from './credential-options.ts'
import { CommandFailure, print } from './output.ts'

/** How long the previous secret is accepted without `--until`. */
const OVERLAP_HOURS = 24

type UpdateOptions = { name?: string; scopes?: string; expires?: string; rate?: string }
type RotateOptions = { until?: string; endPrevious?: boolean }

export function addCredentialUpdates(group: Command): void {
  group
    .command('update')
    .description('change a credential, effective from the next request')
    .argument('<key>')
    .option('--name <name>')
    .option('--scopes <list>', SCOPE_LIST)
    .option('--expires <timestamp>', 'expiry, or "never"')
    .option('--rate <number>', 'requests per minute, or "default" for the stage\'s limit')
    .action(async (text: string, given: UpdateOptions, command: Command) => {
      const key = requireKey(text)
      const changes = changesOf(given)
      const table = await connect(command)
      const outcome = await credentialChanges({ table, now: Date.now }).change(key, changes)
      if (!('credential' in outcome)) throw refusal(key, outcome.kind)
      const { credential, kind } = outcome
      print(command, credentialJson(credential), [
        kind === 'same' ? `Nothing changed: credential ${key} is so already` : `Changed credential ${key}`,
        ...(changes.scopes ? await webhookNotes(table, credential) : []),
      ])
    })

  group
    .command('rotate')
    .description('replace the secret of a credential; the previous one is accepted for a while')
    .argument('<key>')
    .option(
      '--until <timestamp>',
      `until when the previous secret is accepted, or "now" (default: ${OVERLAP_HOURS} hours)`,
    )
    .option('--end-previous', 'end the overlap of an earlier rotation')
    .action(async (text: string, { until, endPrevious = false }: RotateOptions, command: Command) => {
      const key = requireKey(text)
      const end = endOfOverlap(until)
      const table = await connect(command)
      const outcome = await credentialChanges({ table, now: Date.now }).rotate(key, end, endPrevious)
      if (outcome.kind !== 'rotated') throw rotationRefusal(key, outcome)
      const { credential, secret } = outcome
      const json = credentialJson(credential)
      print(command, { ...json, secret }, [
        ...secretLines(key, secret),
        json.previous_secret_until === null
          ? 'The previous secret is not accepted any more.'
          : `The previous secret is accepted until ${json.previous_secret_until}.`,
      ])
    })
}

function changesOf({ name, scopes, expires, rate }: UpdateOptions): CredentialChanges {
  const changes = {
    ...(name !== undefined && { name: parseName(name) }),
    ...(scopes !== undefined && { scopes: parseScopes(scopes) }),
    ...(expires !== undefined && { expiresAt: parseExpiry(expires) }),
    ...(rate !== undefined && { requestsPerMinute: parseRate(rate) }),
  }
  if (Object.keys(changes).length === 0)
    throw new CommandFailure('Nothing to change: specify --name, --scopes, --expires or --rate.')
  return changes
}

function endOfOverlap(until: string | undefined): string {
  if (until === 'now') return new Date().toISOString()
  if (until === undefined) return new Date(Date.now() + OVERLAP_HOURS * 3_600_000).toISOString()
  return parseFuture('until', until)
}

function rotationRefusal(
  key: string,
  outcome: Exclude<RotationOutcome, { kind: 'rotated' }>,
): CommandFailure {
  if (outcome.kind !== 'rotating') return refusal(key, outcome.kind)
  return new CommandFailure(
    `Credential ${key} was rotated already: its previous secret is accepted until ${outcome.until}. To rotate it again, which ends that secret at once, repeat the command with --end-previous.`,
  )
}

function refusal(key: string, kind: 'unknown' | 'revoked' | 'expired'): CommandFailure {
  if (kind === 'unknown') return unknownCredential(key)
  if (kind === 'revoked')
    return new CommandFailure(
      `Credential ${key} is revoked, which is final. "credential create" issues another.`,
    )
  return new CommandFailure(`Credential ${key} has expired. "credential update ${key} --expires" extends it.`)
}

/** Endpoints receive events independently of the scopes that their credential has now. */
async function webhookNotes(table: Table, { key, clinic }: CredentialWithUse): Promise<string[]> {
  const endpoints = await webhookStore({ table }).list(clinic.id)
  const ids = endpoints.filter(({ createdBy }) => createdBy === key).map(({ id }) => id)
  if (ids.length === 0) return []
  return [`It has created webhook endpoints, which go on receiving the same events: ${ids.join(', ')}`]
}
