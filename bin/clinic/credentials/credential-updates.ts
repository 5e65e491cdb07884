/** Changes the settings of a credential that is in use. */
import type { Command } from 'commander'
import type { CredentialWithUse } from '../../../shared/domain/credential.ts'
import { type CredentialChanges, credentialChanges } from '../../../shared/store/credential-changes.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { connect } from '../tool/connection.ts'
import { CommandFailure, print } from '../tool/output.ts'
import {
  parseExpiry,
  parseName,
  parseRate,
  parseScopes,
  requireKey,
  SCOPE_LIST,
  unknownCredential,
} from './credential-options.ts'
import { endpointsOf } from './credential-revocation.ts'
import { credentialJson } from './credential-text.ts'

type UpdateOptions = { name?: string; scopes?: string; expires?: string; rate?: string }

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
      if (!('credential' in outcome)) throw credentialRejection(key, outcome.kind)
      const { credential, kind } = outcome
      print(command, credentialJson(credential), [
        kind === 'same'
          ? `Nothing changed: credential ${key} has these values already`
          : `Changed credential ${key}`,
        ...(changes.scopes ? await webhookNotes(table, credential) : []),
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

/** Why a credential was not changed. */
export function credentialRejection(key: string, kind: 'unknown' | 'revoked' | 'expired'): CommandFailure {
  if (kind === 'unknown') return unknownCredential(key)
  if (kind === 'revoked')
    return new CommandFailure(
      `Credential ${key} is revoked, which is final. "credential create" issues another.`,
    )
  return new CommandFailure(`Credential ${key} has expired. "credential update ${key} --expires" extends it.`)
}

/** Endpoints receive events independently of the scopes that their credential has now. */
async function webhookNotes(table: Table, { key, clinic }: CredentialWithUse): Promise<string[]> {
  const ids = await endpointsOf(table, clinic.id, [key])
  if (ids.length === 0) return []
  return [`It has created webhook endpoints, which keep receiving the same events: ${ids.join(', ')}`]
}
