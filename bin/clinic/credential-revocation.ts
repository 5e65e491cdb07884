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
  const webhooks = webhookStore({ table })
  const known = await credentials.find(key)
  if (!known) throw unknownCredential(key)
  const { clinic } = known
  const created = async () =>
    (await webhooks.list(clinic.id)).filter(({ createdBy }) => createdBy === key).map(({ id }) => id)
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
  const deleted: string[] = []
  if (!withWebhooks) return { credential, deleted }
  beforeDeletion(ids)
  for (const id of ids) if (await webhooks.remove(clinic.id, id)) deleted.push(id)
  return { credential, deleted }
}

const bothOptions = () => new CommandFailure('Use --with-webhooks or --keep-webhooks, not both.')

/**
 * Requires one of the options if any of the credentials has created webhooks, before the first of them is revoked.
 * @throws CommandFailure
 */
export async function requireWebhookOption(
  table: Table,
  clinic: ClinicId,
  keys: readonly string[],
  { withWebhooks = false, keepWebhooks = false }: RevokeOptions,
): Promise<void> {
  if (withWebhooks && keepWebhooks) throw bothOptions()
  if (withWebhooks || keepWebhooks) return
  const endpoints = await webhookStore({ table }).list(clinic)
  const created = endpoints.filter(({ createdBy }) => keys.includes(createdBy))
  if (created.length === 0) return
  throw new CommandFailure(
    `Nothing was revoked. The credentials have created webhook endpoints, which go on receiving events: ${created.map(({ id }) => id).join(', ')}. ` +
      'Repeat the command with --with-webhooks to delete them, or with --keep-webhooks to keep them.',
  )
}
