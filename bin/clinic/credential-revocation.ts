import type { ClinicId } from '../../shared/domain/clinic.ts'
import type { CredentialWithUse } from '../../shared/domain/credential.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { webhookStore } from '../../shared/store/events/webhooks.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { unknownCredential } from './credential-keys.ts'
import { CommandFailure } from './output.ts'

/** What happens to the webhooks that were created with a revoked credential. */
export type RevokeOptions = { readonly withWebhooks?: boolean; readonly keepWebhooks?: boolean }

/**
 * Revokes a credential, and deletes the webhooks that were created with it if `withWebhooks` is set. Revoking alone does not
 * stop their deliveries, so one of the options is required if there are any. Repeatable.
 * @param beforeDeletion called with the ids of the webhooks before the first is deleted
 * @throws CommandFailure for an unknown key, both options, or webhooks and no option
 */
export async function revokeCredential(
  table: Table,
  key: string,
  { withWebhooks = false, keepWebhooks = false }: RevokeOptions,
  beforeDeletion: (webhooks: readonly string[]) => void,
): Promise<{ readonly credential: CredentialWithUse; readonly deleted: readonly string[] }> {
  if (withWebhooks && keepWebhooks) throw bothOptions()
  const credentials = credentialStore({ table, now: Date.now })
  const known = await credentials.find(key)
  if (!known) throw unknownCredential(key)
  const { clinic } = known
  const created = () => endpointsOf(table, clinic.id, [key])
  const requireOption = (ids: readonly string[], outcome: string) => {
    if (ids.length === 0 || withWebhooks || keepWebhooks) return
    throw new CommandFailure(
      `Credential ${key} ${outcome}. It has created webhook endpoints, which go on receiving events: ${ids.join(', ')}. ` +
        'Repeat the command with --with-webhooks to delete them, or with --keep-webhooks to keep them.',
    )
  }
  requireOption(await created(), 'was not revoked')
  const credential = (await credentials.revoke(key)) ?? known
  // Until it was revoked, the credential could create more.
  const ids = await created()
  requireOption(ids, 'is revoked')
  const deleted = withWebhooks ? await deleteEndpoints(table, clinic.id, ids, beforeDeletion) : []
  return { credential, deleted }
}

/** Deletes endpoints, and returns the ids of those that existed. @param beforeDeletion called with all ids before the first is deleted */
export async function deleteEndpoints(
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

const bothOptions = () => new CommandFailure('Use --with-webhooks or --keep-webhooks, not both.')

/** The ids of the clinic's webhook endpoints that were created with one of the keys. */
export async function endpointsOf(
  table: Table,
  clinic: ClinicId,
  keys: readonly string[],
): Promise<readonly string[]> {
  const endpoints = await webhookStore({ table }).list(clinic)
  return endpoints.filter(({ createdBy }) => keys.includes(createdBy)).map(({ id }) => id)
}

/**
 * Requires one of the options if there are endpoints that were created with the clinic's credentials.
 * @param outcome what has happened to the credentials
 * @throws CommandFailure
 */
export function requireWebhookOption(
  endpoints: readonly string[],
  { withWebhooks = false, keepWebhooks = false }: RevokeOptions,
  outcome: string,
): void {
  if (withWebhooks && keepWebhooks) throw bothOptions()
  if (endpoints.length === 0 || withWebhooks || keepWebhooks) return
  throw new CommandFailure(
    `${outcome} The credentials have created webhook endpoints, which go on receiving events: ${endpoints.join(', ')}. ` +
      'Repeat the command with --with-webhooks to delete them, or with --keep-webhooks to keep them.',
  )
}
