import { isDeepStrictEqual } from 'node:util'
import type { ClinicInfo } from '../../domain/clinic.ts'
import { toClinic } from '../../store/clinics.ts'
import { ACTIVE_VERSION, clinicInfo } from '../../store/credentials.ts'
import {
  clinicCredentialKey,
  clinicCredentialsPartition,
  clinicDirectoryKey,
  clinicKey,
  credentialKey,
} from '../../store/keys/clinics.ts'
import { nullable, number, requireTypes, text, texts } from '../../store/table/attributes.ts'
import type { Item, Write } from '../../store/table/write-requests.ts'
import { partitionPages } from '../walk/partition-pages.ts'
import type { DifferenceKind } from './comparison/difference.ts'
import { type Finding, findingOf, type Inspection } from './comparison/inspection.ts'
import { readable } from './comparison/readable.ts'
import type { Snapshot } from './comparison/snapshot.ts'
import { unlistedOf } from './unlisted-credentials.ts'

type CredentialDifference = Extract<DifferenceKind, `credential_${string}` | 'record_unreadable'>

/** The attributes of every credential. */
const ATTRIBUTES = [
  ...['key', 'name', 'createdAt'].map(text),
  ...['expiresAt', 'revokedAt'].map((name) => nullable(text(name))),
  nullable(number('requestsPerMinute')),
  texts('scopes'),
]

const isSecret = ({ salt, hash, until = '' }: Pick<Item, string>): boolean =>
  [salt, hash].every(ArrayBuffer.isView) && typeof until === 'string'

/** Whether requests can be checked with a credential. */
const isReadable = (credential: Item): boolean =>
  readable(() => requireTypes(credential, ATTRIBUTES)) !== null &&
  credential.clinic !== undefined &&
  isSecret(credential) &&
  (credential.previous === undefined || isSecret(credential.previous as Item))

/**
 * Verifies the indexes of a clinic: the operator's directory of clinics, the list of the clinic's credentials, whether the
 * list says that a credential is revoked, and the settings of the clinic that each credential copies. What the list lacks was noted
 * when all clinics were verified.
 */
export async function checkClinicIndexes({
  table,
  clinic,
  count,
  examine,
  examineAll,
}: Inspection): Promise<void> {
  await examine(async (read) => {
    const key = clinicDirectoryKey(clinic)
    if (await read.get(key)) return null
    const repair = () => read.write([table.putWrite({ ...key })])
    return findingOf('clinic_unlisted', key, repair)
  })
  for await (const page of partitionPages(table, clinicCredentialsPartition(clinic))) {
    count('credentials', page.length)
    const settings = await table.get(clinicKey(clinic))
    const credentials = await table.getMany(page.map(({ sk }) => credentialKey(sk)))
    const known = new Map(credentials.map((item) => [item.pk, item]))
    await examineAll(
      page.filter((row) => credentialDifference(row, known.get(credentialKey(row.sk).pk), settings) !== null),
      ({ sk }, read) => recheckCredential(sk, read),
    )
  }
  await examineAll(await unlistedOf(table, clinic), recheckCredential)

  async function recheckCredential(id: string, read: Snapshot): Promise<Finding | null> {
    const key = clinicCredentialKey(clinic, id)
    const settings = await read.get(clinicKey(clinic))
    const row = await read.get(key)
    const credential = await read.get(credentialKey(id))
    const kind = credentialDifference(row, credential, settings)
    if (!kind) return null
    const write = credential && repairOf(kind, { ...key, ...row }, credential, settings)
    return findingOf(kind, key, write ? () => read.write([write]) : null)
  }

  /** The row says again whether the credential is revoked, or the credential has the clinic's settings again. */
  function repairOf(
    kind: CredentialDifference,
    row: Item,
    credential: Item,
    settings: Item | undefined,
  ): Write | null {
    if (kind === 'credential_state_wrong' || kind === 'credential_unlisted')
      return table.putWrite({ ...row, v: rowVersion(credential) })
    if (kind !== 'credential_outdated' || !settings) return null
    return table.updateWrite(credentialKey(row.sk), {
      UpdateExpression: 'SET clinic = :clinic, cv = :version',
      ExpressionAttributeValues: { ':clinic': infoOf(settings), ':version': settings.v ?? 0 },
    })
  }

  function credentialDifference(
    row: Item | undefined,
    credential: Item | undefined,
    settings: Item | undefined,
  ): CredentialDifference | null {
    const copy = (credential?.clinic ?? {}) as Partial<ClinicInfo>
    if (!row) return copy.id === clinic ? 'credential_unlisted' : null
    if (!credential) return 'credential_missing'
    if (!isReadable(credential)) return 'record_unreadable'
    if (copy.id !== clinic) return 'credential_foreign'
    if (row.v !== rowVersion(credential)) return 'credential_state_wrong'
    // Settings that cannot be read were reported before.
    if (!settings || !readable(() => toClinic(settings))) return null
    const isVersioned = credential.cv === undefined || typeof credential.cv === 'number'
    return isVersioned && isDeepStrictEqual(copy, infoOf(settings)) ? null : 'credential_outdated'
  }
}

/** The version of a credential's row: revoking increments it. */
const rowVersion = ({ revokedAt = null }: Item): number => ACTIVE_VERSION + (revokedAt === null ? 0 : 1)

const infoOf = (item: Item): ClinicInfo => clinicInfo(item as Item & ClinicInfo)
