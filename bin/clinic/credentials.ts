import type { Command } from 'commander'
import { isActive } from '../../shared/domain/credential.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { addToTrail } from './command-trail.ts'
import { addYesOption, confirm } from './confirmation.ts'
import { cellOf, connect, requireClinic } from './connection.ts'
import {
  credentialCells,
  credentialJson,
  parseExpiry,
  parseName,
  parseRate,
  parseScopes,
  requireKey,
  SCOPE_LIST,
  secretLines,
} from './credential-options.ts'
import { type RevokeOptions, requireWebhookOption, revokeCredential } from './credential-revocation.ts'
import { addCredentialUpdates } from './credential-updates.ts'
import { counted, formatTable as lines, print } from './output.ts'

type CreateOptions = { clinic: string; name: string; scopes: string; expires?: string; rate?: string }

export function addCredentialCommands(program: Command): void {
  const group = program.command('credential').description('issue, list, change and revoke credentials')

  group
    .command('create')
    .description('issue a credential; its secret is shown only once')
    .requiredOption('--clinic <id>')
    .requiredOption('--name <name>', 'who uses it, e.g. the name of the integration')
    .requiredOption('--scopes <list>', SCOPE_LIST)
    .option('--expires <timestamp>', 'expiry, e.g. 2027-01-01T00:00:00+03:00 (default: never)')
    .option('--rate <number>', "requests per minute (default: the stage's limit)")
    .action(async (given: CreateOptions, command: Command) => {
      const settings = {
        name: parseName(given.name),
        scopes: parseScopes(given.scopes),
        expiresAt: given.expires === undefined ? null : parseExpiry(given.expires),
        requestsPerMinute: given.rate === undefined ? null : parseRate(given.rate),
      }
      const table = await connect(command)
      const clinic = await requireClinic(table, given.clinic)
      const credential = await credentialStore({ table, now: Date.now }).issue({
        ...settings,
        clinic: clinic.id,
        cell: await cellOf(command),
      })
      const { key, secret } = credential
      print(command, { ...credentialJson(credential), secret }, secretLines(key, secret))
    })

  group
    .command('list')
    .description("list a clinic's credentials, without secrets")
    .requiredOption('--clinic <id>')
    .action(async ({ clinic: id }: { clinic: string }, command: Command) => {
      const table = await connect(command)
      const clinic = await requireClinic(table, id)
      const credentials = await credentialStore({ table, now: Date.now }).list(clinic.id)
      print(command, { data: credentials.map(credentialJson) }, lines(credentials.map(credentialCells)))
    })

  addCredentialUpdates(group)
  addRevocation(group)
}

function addRevocation(group: Command): void {
  withWebhookOptions(group.command('revoke'))
    .description('revoke a credential, effective from the next request')
    .argument('<key>')
    .action(async (text: string, given: RevokeOptions, command: Command) => {
      const key = requireKey(text)
      const table = await connect(command)
      const { credential, deleted } = await revokeCredential(table, key, given, addIds(command))
      print(command, { ...credentialJson(credential), deleted_webhooks: deleted }, [
        `Revoked credential ${key}`,
        ...deleted.map((id) => `Deleted webhook endpoint ${id}`),
      ])
    })

  addYesOption(withWebhookOptions(group.command('revoke-all')))
    .description("revoke all of a clinic's credentials; run it again if it was interrupted")
    .requiredOption('--clinic <id>')
    .action(async (given: RevokeOptions & { clinic: string }, command: Command) => {
      const table = await connect(command)
      const clinic = await requireClinic(table, given.clinic)
      const all = await credentialStore({ table, now: Date.now }).list(clinic.id)
      const left = all.filter(({ revokedAt }) => revokedAt === null)
      const keys = left.map(({ key }) => key)
      const count = counted(left.length, 'credential')
      await requireWebhookOption(table, clinic.id, keys, given)
      if (left.length > 0)
        await confirm(command, [
          `${count} of ${clinic.name} ${left.length === 1 ? 'is' : 'are'} revoked, ${left.filter((one) => isActive(one, Date.now())).length} of them active. Their integrations get a 401 from the next request on:`,
          ...lines(left.map(credentialCells)),
        ])
      const revoked = []
      for (const key of keys) revoked.push(await revokeCredential(table, key, given, addIds(command)))
      const deleted = revoked.flatMap((one) => one.deleted)
      print(
        command,
        { data: revoked.map(({ credential }) => credentialJson(credential)), deleted_webhooks: deleted },
        [
          left.length === 0
            ? `Nothing changed: ${clinic.name} has no credential that is not revoked`
            : `Revoked ${count} of ${clinic.name}`,
          ...deleted.map((id) => `Deleted webhook endpoint ${id}`),
        ],
      )
    })
}

const withWebhookOptions = (command: Command): Command =>
  command
    .option('--with-webhooks', 'also delete the webhook endpoints that were created with it')
    .option('--keep-webhooks', 'keep the webhook endpoints that were created with it')

/** Adds ids of endpoints to the access trail before they are deleted. */
const addIds =
  (command: Command) =>
  (ids: readonly string[]): void =>
    addToTrail(
      command,
      ids.map((id) => ({ id })),
    )
