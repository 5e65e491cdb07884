import type { Command } from 'commander'
import * as z from 'zod'
import { type Credential, type CredentialWithUse, isActive } from '../../shared/domain/credential.ts'
import { isScope, SCOPES, type Scope } from '../../shared/domain/scope.ts'
import { singleLineText } from '../../shared/domain/text-fields.ts'
import { clinicTimestamp } from '../../shared/domain/timestamp.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { addToTrail } from './command-trail.ts'
import { cellOf, connect, requireClinic } from './connection.ts'
import { type RevokeOptions, revokeCredential } from './credential-revocation.ts'
import { CommandFailure, formatTable as lines, parseOption, print } from './output.ts'

const Expiry = z.iso.datetime({
  offset: true,
  error: 'must be a timestamp such as 2027-01-01T00:00:00+03:00',
})

const Rate = z.coerce
  .number({ error: 'must be a number of requests per minute' })
  .int({ error: 'must be a whole number' })
  .min(1, { error: 'must be at least 1' })
  .max(1_000_000, { error: 'must be at most 1000000' })

export function addCredentialCommands(program: Command): void {
  const group = program.command('credential').description('issue, list and revoke credentials')

  group
    .command('create')
    .description('issue a credential; its secret is shown only once')
    .requiredOption('--clinic <id>')
    .requiredOption('--name <name>', 'who uses it, e.g. the name of the integration')
    .requiredOption('--scopes <list>', `"all", "none" or a comma-separated list of ${SCOPES.join(', ')}`)
    .option('--expires <timestamp>', 'expiry, e.g. 2027-01-01T00:00:00+03:00 (default: never)')
    .option('--rate <number>', "requests per minute (default: the stage's limit)")
    .action(
      async (
        given: { clinic: string; name: string; scopes: string; expires?: string; rate?: string },
        command: Command,
      ) => {
        const table = await connect(command)
        const clinic = await requireClinic(table, given.clinic)
        const credential = await credentialStore({ table, now: Date.now }).issue({
          name: parseOption('name', singleLineText(100), given.name),
          clinic: clinic.id,
          cell: await cellOf(command),
          scopes: scopesOf(given.scopes),
          expiresAt:
            given.expires === undefined
              ? null
              : new Date(parseOption('expires', Expiry, given.expires)).toISOString(),
          requestsPerMinute: given.rate === undefined ? null : parseOption('rate', Rate, given.rate),
        })
        const { key, secret } = credential
        print(command, { ...credentialJson(credential), secret }, [
          `key     ${key}`,
          `secret  ${secret}`,
          '',
          `The secret is not stored and not shown again. Use: Authorization: Developer ${key}:${secret}`,
        ])
      },
    )

  group
    .command('list')
    .description("list a clinic's credentials, without secrets")
    .requiredOption('--clinic <id>')
    .action(async ({ clinic: id }: { clinic: string }, command: Command) => {
      const table = await connect(command)
      const clinic = await requireClinic(table, id)
      const credentials = await credentialStore({ table, now: Date.now }).list(clinic.id)
      const rows = credentials.map((credential) => [
        credential.key,
        credential.name,
        stateOf(credential),
        credential.lastUsedAt ? `last used ${credential.lastUsedAt}` : 'never used',
        credential.scopes.join(','),
      ])
      print(command, { data: credentials.map(credentialJson) }, lines(rows))
    })

  group
    .command('revoke')
    .description('revoke a credential, effective from the next request')
    .argument('<key>')
    .option('--with-webhooks', 'also delete the webhook endpoints that were created with it')
    .option('--keep-webhooks', 'keep the webhook endpoints that were created with it')
    .action(async (key: string, given: RevokeOptions, command: Command) => {
      const table = await connect(command)
      const { credential, deleted } = await revokeCredential(table, key, given, (ids) =>
        addToTrail(
          command,
          ids.map((id) => ({ id })),
        ),
      )
      print(command, { ...credentialJson(credential), deleted_webhooks: deleted }, [
        `Revoked credential ${key}`,
        ...deleted.map((id) => `Deleted webhook endpoint ${id}`),
      ])
    })
}

function stateOf(credential: Credential): string {
  if (credential.revokedAt) return 'revoked'
  return isActive(credential, Date.now()) ? 'active' : 'expired'
}

function scopesOf(text: string): Scope[] {
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

function credentialJson(credential: CredentialWithUse) {
  const at = (instant: string | null) => instant && clinicTimestamp(instant, credential.clinic.timezone)
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
  }
}
