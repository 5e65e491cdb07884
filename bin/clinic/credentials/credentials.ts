import type { Command } from 'commander'
import { credentialStore } from '../../../shared/store/credentials.ts'
import { cellOf, openClinic } from '../tool/connection.ts'
import { formatTable as lines, print } from '../tool/output.ts'
import { parseExpiry, parseName, parseRate, parseScopes, SCOPE_LIST } from './credential-options.ts'
import { addRevocation } from './credential-revocation.ts'
import { addRotation } from './credential-rotation.ts'
import { credentialCells, credentialJson, secretLines } from './credential-text.ts'
import { addCredentialUpdates } from './credential-updates.ts'

type CreateOptions = { name: string; scopes: string; expires?: string; rate?: string }

export function addCredentialCommands(group: Command): void {
  group
    .command('create')
    .description('issue a credential; its secret is shown only once')
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
      const { table, clinic } = await openClinic(command)
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
    .action(async (_: object, command: Command) => {
      const { table, clinic } = await openClinic(command)
      const credentials = await credentialStore({ table, now: Date.now }).list(clinic.id)
      print(command, { data: credentials.map(credentialJson) }, lines(credentials.map(credentialCells)))
    })

  addCredentialUpdates(group)
  addRotation(group)
  addRevocation(group)
}
