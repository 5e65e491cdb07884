import type { Command } from 'commander'
import type { Clinic, ClinicId } from '../../../shared/domain/clinic.ts'
import { type CredentialWithUse, isActive } from '../../../shared/domain/credential.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import { webhookStore } from '../../../shared/store/events/webhooks.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { addToTrail } from '../tool/command-trail.ts'
import { addYesOption, confirm } from '../tool/confirmation.ts'
import { connect, openClinic } from '../tool/connection.ts'
import { CommandFailure, counted, formatTable as lines, nameClinic, print } from '../tool/output.ts'
import { requireKey, unknownCredential } from './credential-options.ts'
import { credentialCells, credentialJson } from './credential-text.ts'

/** Options for the webhooks that were created with a revoked credential. */
type RevokeOptions = { readonly withWebhooks?: boolean; readonly keepWebhooks?: boolean }

/** Adds `revoke`, of one credential or of all. */
export function addRevocation(group: Command): void {
  addYesOption(withWebhookOptions(group.command('revoke')))
    .description('revoke a credential, or all of a clinic, effective from the next request; may be repeated')
    .argument('[key]')
    .option('--all', "all of the clinic's credentials", false)
    .action(async (text: string | undefined, given: RevokeOptions & { all: boolean }, command: Command) => {
      if ((text === undefined) !== given.all) throw new CommandFailure('Specify either a key or --all.')
      if (text === undefined) return revokeAll(given, command)
      const key = requireKey(text)
      const table = await connect(command)
      let isChanged = false
      const agree = async (known: CredentialWithUse) => {
        await confirm(command, revocationConsequences(known.clinic, [known]))
        isChanged = true
      }
      const { credential, deleted } = await revokeCredential(table, key, given, addIds(command), agree)
      nameClinic(command, credential.clinic)
      print(command, { ...credentialJson(credential), deleted_webhooks: deleted }, [
        isChanged ? `Revoked credential ${key}` : `Nothing changed: credential ${key} is revoked already`,
        ...deleted.map((id) => `Deleted webhook endpoint ${id}`),
      ])
    })
}

async function revokeAll(given: RevokeOptions, command: Command): Promise<void> {
  const { table, clinic } = await openClinic(command)
  const credentials = credentialStore({ table, now: Date.now })
  const all = await credentials.list(clinic.id)
  // Endpoints of revoked credentials are included: an earlier run may have been interrupted before it deleted them.
  const endpoints = () =>
    endpointsOf(
      table,
      clinic.id,
      all.map(({ key }) => key),
    )
  const left = all.filter(({ revokedAt }) => revokedAt === null)
  const count = counted(left.length, 'credential')
  const before = await endpoints()
  requireWebhookOption(
    before,
    given,
    `Nothing was ${left.length > 0 ? 'revoked' : 'deleted'}. The credentials have`,
  )
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
  requireWebhookOption(created, given, `Revoked ${count} of ${clinic.name}. The credentials have`)
  const deleted = given.withWebhooks ? await deleteEndpoints(table, clinic.id, created, addIds(command)) : []
  const nothing = `Nothing changed: ${clinic.name} has no credential that is not revoked`
  print(command, { data: revoked.map(credentialJson), deleted_webhooks: deleted }, [
    ...(left.length > 0 ? [`Revoked ${count} of ${clinic.name}`] : deleted.length === 0 ? [nothing] : []),
    ...deleted.map((id) => `Deleted webhook endpoint ${id}`),
  ])
}

const revocationConsequences = (
  { name }: Pick<Clinic, 'name'>,
  left: readonly CredentialWithUse[],
): string[] => [
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

/**
 * Revokes a credential, and deletes the webhooks that were created with it if `withWebhooks` is set. Revoking alone does not
 * stop their deliveries, so one of the options is required if there are any. Repeatable.
 * @param beforeDeletion called with the ids of the webhooks before the first is deleted
 * @param agree called before the credential is revoked, unless it is already
 * @throws CommandFailure for an unknown key, both options, or webhooks and no option
 */
export async function revokeCredential(
  table: Table,
  key: string,
  options: RevokeOptions,
  beforeDeletion: (webhooks: readonly string[]) => void,
  agree: (credential: CredentialWithUse) => Promise<void> = async () => {},
): Promise<{ readonly credential: CredentialWithUse; readonly deleted: readonly string[] }> {
  requireOneOption(options)
  const credentials = credentialStore({ table, now: Date.now })
  const known = await credentials.find(key)
  if (!known) throw unknownCredential(key)
  const { clinic } = known
  const created = () => endpointsOf(table, clinic.id, [key])
  requireWebhookOption(await created(), options, `Credential ${key} was not revoked. It has`)
  if (known.revokedAt === null) await agree(known)
  const credential = (await credentials.revoke(key)) ?? known
  // Until it was revoked, the credential could create more.
  const ids = await created()
  requireWebhookOption(ids, options, `Credential ${key} is revoked. It has`)
  const deleted = options.withWebhooks ? await deleteEndpoints(table, clinic.id, ids, beforeDeletion) : []
  return { credential, deleted }
}

/** Deletes endpoints, and returns the ids of those that existed. @param beforeDeletion called with all ids before the first is deleted */
async function deleteEndpoints(
  table: Table,
  clinic: ClinicId,
  ids: readonly string[],
  beforeDeletion: (webhooks: readonly string[]) => void,
): Promise<readonly string[]> {
  const webhooks = webhookStore({ table })
  const deleted: string[] = []
  beforeDeletion(ids)
  for (const id of ids) if (await webhooks.remove(clinic, id)) deleted.push(id)
  return deleted
}

/** The ids of the clinic's webhook endpoints that were created with one of the keys. */
export async function endpointsOf(
  table: Table,
  clinic: ClinicId,
  keys: readonly string[],
): Promise<readonly string[]> {
  const endpoints = await webhookStore({ table }).list(clinic)
  return endpoints.filter(({ createdBy }) => keys.includes(createdBy)).map(({ id }) => id)
}

/** @throws CommandFailure for both options */
function requireOneOption({ withWebhooks, keepWebhooks }: RevokeOptions): void {
  if (withWebhooks && keepWebhooks)
    throw new CommandFailure('Use --with-webhooks or --keep-webhooks, not both.')
}

/**
 * Requires one of the options if credentials have created endpoints.
 * @param outcome what has happened, and the beginning of the sentence about who created them
 * @throws CommandFailure
 */
function requireWebhookOption(endpoints: readonly string[], options: RevokeOptions, outcome: string): void {
  requireOneOption(options)
  if (endpoints.length === 0 || options.withWebhooks || options.keepWebhooks) return
  throw new CommandFailure(
    `${outcome} created webhook endpoints, which keep receiving events: ${endpoints.join(', ')}. ` +
      'Repeat the command with --with-webhooks to delete them, or with --keep-webhooks to keep them.',
  )
}
