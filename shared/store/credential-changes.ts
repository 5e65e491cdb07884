/** Changes of credentials after they were issued: their settings, and the rotation of their secrets. */
import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../domain/clinic.ts'
import { type Credential, type CredentialWithUse, isActive } from '../domain/credential.ts'
import { clinicStore } from './clinics.ts'
import { clinicInfo, credentialStore, newCredentialSecret, type StoredSecrets } from './credentials.ts'
import { clinicCredentialsPartition, credentialKey, lastUseKey } from './keys/clinics.ts'
import { retryOnConflict } from './table/retries.ts'
import type { Table } from './table/table.ts'

/** The settings of a credential that can be changed. */
export type CredentialChanges = Partial<
  Pick<Credential, 'name' | 'scopes' | 'expiresAt' | 'requestsPerMinute'>
>

/** Why a credential was not changed. */
type Rejection = { readonly kind: 'unknown' | 'revoked' | 'expired' }

type CredentialOutcome =
  | Rejection
  | { readonly kind: 'changed' | 'same'; readonly credential: CredentialWithUse }

export type RotationOutcome =
  | Rejection
  /** The secret before the last rotation is still accepted, and would not be after another one. */
  | { readonly kind: 'rotating'; readonly credential: CredentialWithUse }
  /** There is no previous secret that is still accepted, so the current one may be in use. */
  | { readonly kind: 'not-rotating' }
  | { readonly kind: 'rotated'; readonly credential: CredentialWithUse; readonly secret: string }

/**
 * The effect of a rotation while the secret before the last one is accepted: none, end that secret, or replace the current
 * one, which was lost.
 */
export type DuringOverlap = 'reject' | 'end-previous' | 'replace-current'

export function credentialChanges({ table, now }: { table: Table; now: () => number }) {
  const credentials = credentialStore({ table, now })

  /** Sets attributes of a credential that is not revoked. @throws ConditionFailed */
  async function set(
    key: string,
    values: object,
    condition: { readonly attribute: string; readonly equals: unknown },
  ): Promise<void> {
    const entries = Object.entries(values)
    const names = Object.fromEntries(entries.map(([name], at) => [`#${at}`, name]))
    const given = Object.fromEntries(entries.map(([, value], at) => [`:${at}`, value]))
    await table.update(credentialKey(key), {
      UpdateExpression: `SET ${entries.map((_, at) => `#${at} = :${at}`).join(', ')}`,
      ConditionExpression: 'revokedAt = :none AND #condition = :condition',
      ExpressionAttributeNames: { ...names, '#condition': condition.attribute },
      ExpressionAttributeValues: { ...given, ':none': null, ':condition': condition.equals },
    })
  }

  /** Changes settings, effective from the next request. A revoked credential cannot be changed. */
  async function change(key: string, changes: CredentialChanges): Promise<CredentialOutcome> {
    return retryOnConflict(async () => {
      const credential = await credentials.find(key)
      if (!credential) return { kind: 'unknown' }
      if (credential.revokedAt !== null) return { kind: 'revoked' }
      const changed = { ...credential, ...changes }
      if (isDeepStrictEqual(changed, credential)) return { kind: 'same', credential }
      await set(key, changes, { attribute: 'key', equals: key })
      return { kind: 'changed', credential: changed }
    })
  }

  /**
   * Replaces the secret. The one before is accepted until `until`, an ISO 8601 instant. The new secret is only in the
   * returned value.
   */
  async function rotate(
    key: string,
    until: string,
    duringOverlap: DuringOverlap = 'reject',
  ): Promise<RotationOutcome> {
    const { secret, stored } = newCredentialSecret()
    return retryOnConflict(async () => {
      const [credential, item] = await Promise.all([credentials.find(key), table.get(credentialKey(key))])
      if (!credential || !item) return { kind: 'unknown' }
      if (credential.revokedAt !== null) return { kind: 'revoked' }
      if (!isActive(credential, now())) return { kind: 'expired' }
      const { salt, hash, previous } = item as typeof item & StoredSecrets
      // An earlier attempt was committed after all, although its response was lost.
      if (Buffer.compare(hash, stored.hash) === 0) return { kind: 'rotated', credential, secret }
      const overlap = previous && now() < Date.parse(previous.until) ? previous : null
      if (overlap && duringOverlap === 'reject')
        return { kind: 'rotating', credential: { ...credential, previousSecretUntil: overlap.until } }
      if (!overlap && duringOverlap === 'replace-current') return { kind: 'not-rotating' }
      const kept = duringOverlap === 'replace-current' ? overlap : { salt, hash }
      await set(key, { ...stored, previous: { ...kept, until } }, { attribute: 'hash', equals: hash })
      return { kind: 'rotated', credential: { ...credential, previousSecretUntil: until }, secret }
    })
  }

  return { change, rotate }
}

/**
 * Replaces a clinic's credentials in a restored table, and the times of their last use, by the ones in another table, with the
 * restored settings of the clinic. The clinic's list of credentials is not changed. Returns the number of items that differed.
 */
export async function mirrorCredentials(source: Table, restored: Table, clinic: ClinicId): Promise<number> {
  const settings = await clinicStore({ table: restored }).find(clinic)
  if (!settings) throw new RangeError('the restored table lacks the clinic')
  const rows = await source.query({ pk: clinicCredentialsPartition(clinic), limit: 10_000 })
  const keys = rows.map(({ sk }) => credentialKey(sk))
  const useKeys = rows.map(({ sk }) => lastUseKey(sk))
  const existing = new Map((await restored.getMany([...keys, ...useKeys])).map((item) => [item.pk, item]))
  const [credentials, uses] = await Promise.all([source.getMany(keys), source.getMany(useKeys)])
  const copied = { clinic: clinicInfo(settings), cv: settings.version }
  const items = [...credentials.map((item) => ({ ...item, ...copied })), ...uses]
  const changed = items.filter((item) => !isDeepStrictEqual(item, existing.get(item.pk)))
  await restored.putMany(changed)
  return changed.length
}
