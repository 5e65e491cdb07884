import type { Command } from 'commander'
import type { Clinic, ClinicId } from '../../../shared/domain/clinic.ts'
import { type CredentialWithUse, isActive } from '../../../shared/domain/credential.ts'
import { noteUnlisted, unlistedOf } from '../../../shared/maintenance/verify/unlisted-credentials.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import { webhookStore } from '../../../shared/store/events/webhooks.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { tableReplacement } from '../../../shared/store/table-replacement.ts'
import { addToTrail } from '../tool/command-trail.ts'
import { addYesOption, confirm } from '../tool/confirmation.ts'
import { connect, connectDynamoDb, openClinic } from '../tool/connection.ts'
import {
  CommandFailure,
  counted,
  formatTable as lines,
  nameClinic,
  print,
  walkNotices,
} from '../tool/output.ts'
import { credentialCells, credentialJson, requireKey, unknownCredential } from './credential-text.ts'

type RevokeOptions = { readonly all: boolean; readonly withWebhooks: boolean }

/** Adds `revoke`, of one credential or of all. */
export function addRevocation(group: Command): void {
  const revoke = group
    .command('revoke')
    .option('--with-webhooks', 'also delete the webhook endpoints that were created with it', false)
  addYesOption(revoke)
    .description('revoke a credential, or all of a clinic, effective from the next request; may be repeated')
    .argument('[key]')
    .option('--all', "all of the clinic's credentials", false)
    .action(async (text: string | undefined, given: RevokeOptions, command: Command) => {
      if ((text === undefined) !== given.all) throw new CommandFailure('Specify either a key or --all.')
      const key = text === undefined ? undefined : requireKey(text)
      const { table, clinic, all } = await (key === undefined
        ? ofClinic(command)
        : ofKey(await connect(command), key))
      nameClinic(command, clinic)
      const keys = all.map((one) => one.key)
      const left = all.filter(({ revokedAt }) => revokedAt === null)
      const what =
        key === undefined ? `${counted(left.length, 'credential')} of ${clinic.name}` : `credential ${key}`
      const endpoints = await endpointsOf(table, clinic.id, keys)
      const isDeleting = given.withWebhooks && endpoints.length > 0
      if (left.length > 0 || isDeleting)
        await confirm(command, [
          ...(left.length > 0 ? revocationConsequences(clinic, left) : []),
          ...(isDeleting ? [`Webhook endpoints that are deleted: ${endpoints.join(', ')}`] : []),
          ...(given.withWebhooks ? [] : keptLines(endpoints)),
        ])
      addToTrail(
        command,
        left.map((one) => ({ key: one.key })),
      )
      const { revoked, kept, deleted } = await revokeCredentials(table, clinic.id, keys, {
        onDelete: given.withWebhooks
          ? (created) =>
              addToTrail(
                command,
                created.map((id) => ({ id })),
              )
          : undefined,
        findMore: key === undefined ? () => findUnlisted(command, table, clinic.id) : undefined,
      })
      const replacement = await tableReplacement({ table }).renew(clinic.id)
      const changed = revoked.filter(
        (one) => !all.some(({ key, revokedAt }) => key === one.key && revokedAt !== null),
      )
      const found = changed.filter((one) => !keys.includes(one.key)).map((one) => one.key)
      const isUnchanged = changed.length + deleted.length === 0
      const [only] = revoked
      const result = key !== undefined && only ? credentialJson(only) : { data: changed.map(credentialJson) }
      print(command, { ...result, deleted_webhooks: deleted }, [
        ...(left.length > 0 ? [`Revoked ${what}`] : []),
        ...found.map((one) => `Revoked credential ${one}, which the list of credentials lacked`),
        ...deleted.map((id) => `Deleted webhook endpoint ${id}`),
        ...keptLines(kept),
        ...(isUnchanged
          ? [
              `Nothing changed: ${key === undefined ? `all credentials of ${clinic.name} are` : `${what} is`} revoked already`,
            ]
          : []),
        ...(replacement === null
          ? []
          : [
              `Run "restore reconcile --table ${replacement}" again: the restored table may not have this yet.`,
            ]),
      ])
    })
}

/** All credentials of the command's clinic, revoked ones too: an earlier run may have been interrupted before it deleted their endpoints. */
async function ofClinic(command: Command) {
  const { table, clinic } = await openClinic(command)
  return { table, clinic, all: await credentialStore({ table, now: Date.now }).list(clinic.id) }
}

async function findUnlisted(command: Command, table: Table, clinic: ClinicId): Promise<string[]> {
  command
    .configureOutput()
    .writeErr?.('The listed credentials are revoked. Searching the table for others.\n')
  const { client, tableName: name } = await connectDynamoDb(command)
  await noteUnlisted({ table, client, name, ...walkNotices(command, 'item') }, clinic)
  const keys = await unlistedOf(table, clinic)
  addToTrail(
    command,
    keys.map((key) => ({ key })),
  )
  return keys
}

async function ofKey(table: Table, key: string) {
  const known = await credentialStore({ table, now: Date.now }).find(key)
  if (!known) throw unknownCredential(key)
  return { table, clinic: known.clinic, all: [known] }
}

const revocationConsequences = (
  { name }: Pick<Clinic, 'name'>,
  left: readonly CredentialWithUse[],
): string[] => {
  const active = left.filter((one) => isActive(one, Date.now())).length
  const revoked = `${counted(left.length, 'credential')} of ${name} will be revoked (active: ${active}).`
  return [`${revoked} Requests with an active one then return 401:`, ...lines(left.map(credentialCells))]
}

type Revocation = {
  /** Called with the webhook endpoints that are deleted; without it, none is. */
  readonly onDelete?: ((endpoints: readonly string[]) => void) | undefined
  /** Finds keys that take longer to find. */
  readonly findMore?: (() => Promise<readonly string[]>) | undefined
}

/** Revokes credentials, then deletes webhook endpoints: until then, the credentials could create more. Repeatable. */
export async function revokeCredentials(
  table: Table,
  clinic: ClinicId,
  keys: readonly string[],
  { onDelete, findMore = async () => [] }: Revocation,
) {
  const credentials = credentialStore({ table, now: Date.now })
  const revoked: CredentialWithUse[] = []
  const revokeEach = async (some: readonly string[]) => {
    for (const key of some) {
      const credential = await credentials.revoke(key)
      if (credential) revoked.push(credential)
    }
    return some
  }
  const all = [...(await revokeEach(keys)), ...(await revokeEach(await findMore()))]
  const created = await endpointsOf(table, clinic, all)
  onDelete?.(created)
  const deleted: string[] = []
  for (const id of onDelete ? created : [])
    if (await webhookStore({ table }).remove(clinic, id)) deleted.push(id)
  return { revoked, kept: onDelete ? [] : created, deleted }
}

/** Revoking a credential does not stop deliveries to the endpoints that it has created. */
const keptLines = (endpoints: readonly string[]): string[] =>
  endpoints.length === 0
    ? []
    : [
        `Webhook endpoints that were created with these credentials keep receiving events: ${endpoints.join(', ')}. --with-webhooks deletes them.`,
      ]

/** The ids of the clinic's webhook endpoints that were created with one of the keys. */
export async function endpointsOf(
  table: Table,
  clinic: ClinicId,
  keys: readonly string[],
): Promise<readonly string[]> {
  const endpoints = await webhookStore({ table }).list(clinic)
  return endpoints.filter(({ createdBy }) => keys.includes(createdBy)).map(({ id }) => id)
}
