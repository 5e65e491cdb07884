import type { Command } from 'commander'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { type CredentialWithUse, isActive } from '../../shared/domain/credential.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { addToTrail } from './command-trail.ts'
import { addYesOption, confirm } from './confirmation.ts'
import { connect, requireClinic } from './connection.ts'
import { requireKey } from './credential-keys.ts'
import {
  deleteEndpoints,
  endpointsOf,
  type RevokeOptions,
  requireWebhookOption,
  revokeCredential,
} from './credential-revocation.ts'
import { credentialCells, credentialJson } from './credential-text.ts'
import { counted, formatTable as lines, print } from './output.ts'

/** Adds `revoke` and `revoke-all`. */
export function addRevocation(group: Command): void {
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
    .action(revokeAll)
}

async function revokeAll(given: RevokeOptions & { clinic: string }, command: Command): Promise<void> {
  const table = await connect(command)
  const clinic = await requireClinic(table, given.clinic)
  const credentials = credentialStore({ table, now: Date.now })
  const all = await credentials.list(clinic.id)
  // Those of revoked credentials as well: an earlier run may have been interrupted before it deleted them.
  const endpoints = () =>
    endpointsOf(
      table,
      clinic.id,
      all.map(({ key }) => key),
    )
  const left = all.filter(({ revokedAt }) => revokedAt === null)
  const count = counted(left.length, 'credential')
  const before = await endpoints()
  requireWebhookOption(before, given, left.length > 0 ? 'Nothing was revoked.' : 'Nothing was deleted.')
  const consequences = [
    ...(left.length > 0 ? revocationConsequences(clinic, left) : []),
    ...(given.withWebhooks && before.length > 0
      ? [`Webhook endpoints that are deleted: ${before.join(', ')}`]
      : []),
  ]
  if (consequences.length > 0) await confirm(command, consequences)
  addToTrail(
    command,
    left.map(({ key }) => ({ key })),
  )
  const revoked = []
  for (const one of left) revoked.push((await credentials.revoke(one.key)) ?? one)
  // Until they were revoked, the credentials could create more.
  const created = await endpoints()
  requireWebhookOption(created, given, `Revoked ${count} of ${clinic.name}.`)
  const deleted = given.withWebhooks ? await deleteEndpoints(table, clinic.id, created, addIds(command)) : []
  const nothing = `Nothing changed: ${clinic.name} has no credential that is not revoked`
  print(command, { data: revoked.map(credentialJson), deleted_webhooks: deleted }, [
    ...(left.length > 0 ? [`Revoked ${count} of ${clinic.name}`] : deleted.length === 0 ? [nothing] : []),
    ...deleted.map((id) => `Deleted webhook endpoint ${id}`),
  ])
}

const revocationConsequences = ({ name }: Clinic, left: readonly CredentialWithUse[]): string[] => [
  `${counted(left.length, 'credential')} of ${name} ${left.length === 1 ? 'is' : 'are'} revoked, ${left.filter((one) => isActive(one, Date.now())).length} of them active. Their integrations get a 401 from the next request on:`,
  ...lines(left.map(credentialCells)),
]

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
