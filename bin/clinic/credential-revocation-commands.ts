import type { Command } from 'commander'
import { isActive } from '../../shared/domain/credential.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { addToTrail } from './command-trail.ts'
import { addYesOption, confirm } from './confirmation.ts'
import { connect, requireClinic } from './connection.ts'
import { requireKey } from './credential-keys.ts'
import { type RevokeOptions, requireWebhookOption, revokeCredential } from './credential-revocation.ts'
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
