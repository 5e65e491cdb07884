import { isDeepStrictEqual } from 'node:util'
import type { ClinicInfo } from '../../domain/clinic.ts'
import { ACTIVE_VERSION, clinicInfo } from '../../store/credentials.ts'
import {
  clinicCredentialKey,
  clinicCredentialsPartition,
  clinicDirectoryKey,
  clinicKey,
  credentialKey,
} from '../../store/keys/clinics.ts'
import type { Item } from '../../store/table/write-requests.ts'
import { forEachConcurrent } from '../walk/for-each-concurrent.ts'
import { partitionPages } from '../walk/partition-pages.ts'
import { ifUnchanged, requireUnchanged, requireUnchangedAttributes } from './comparison/conditions.ts'
import type { DifferenceKind, Finding } from './comparison/difference.ts'
import type { Inspection } from './comparison/inspection.ts'

type CredentialDifference = Extract<DifferenceKind, `credential_${string}`>

/**
 * Verifies the indexes of a clinic: the operator's directory of clinics, the list of the clinic's credentials, whether the
 * list says that a credential is revoked, and the settings of the clinic that each credential copies.
 */
export async function checkClinicIndexes({ table, clinic, count, examine }: Inspection): Promise<void> {
  await examine(async () => {
    const key = clinicDirectoryKey(clinic)
    if (await table.get(key)) return null
    return {
      differences: [{ kind: 'clinic_unlisted', key }],
      repair: () => table.transact([table.putWrite({ ...key })]),
    }
  })
  for await (const page of partitionPages(table, clinicCredentialsPartition(clinic))) {
    count('credentials', page.length)
    const settings = await table.get(clinicKey(clinic))
    const credentials = await table.getMany(page.map(({ sk }) => credentialKey(sk)))
    const known = new Map(credentials.map((item) => [item.pk, item]))
    await forEachConcurrent(
      page.filter((row) => credentialDifference(row, known.get(credentialKey(row.sk).pk), settings) !== null),
      ({ sk }) => examine(() => recheckCredential(sk)),
    )
  }

  async function recheckCredential(id: string): Promise<Finding | 'moving' | null> {
    const settings = await table.get(clinicKey(clinic))
    const row = await table.get(clinicCredentialKey(clinic, id))
    const credential = await table.get(credentialKey(id))
    const again = await Promise.all([
      table.get(clinicKey(clinic)),
      table.get(clinicCredentialKey(clinic, id)),
    ])
    if (settings?.v !== again[0]?.v || row?.v !== again[1]?.v) return 'moving'
    const kind = row ? credentialDifference(row, credential, settings) : null
    if (!row || !kind) return null
    const differences = [{ kind, key: clinicCredentialKey(clinic, id) }]
    if (kind === 'credential_outdated' && credential && settings)
      return { differences, repair: () => copySettings(credential, settings) }
    if (kind === 'credential_state_wrong' && credential)
      return { differences, repair: () => copyState(credential, row) }
    return { differences, repair: null }
  }

  /** Lets the row say again whether the credential is revoked. */
  async function copyState(credential: Item, { v, ...row }: Item): Promise<void> {
    const { pk, sk, revokedAt } = credential
    const state = table.putWrite({ ...row, v: rowVersion(credential) })
    await table.transact([
      ifUnchanged(state, { v }),
      requireUnchangedAttributes(table, { pk, sk }, { revokedAt }),
    ])
  }

  async function copySettings(credential: Item, settings: Item): Promise<void> {
    const { pk, sk, cv } = credential
    const copy = table.updateWrite(
      { pk, sk },
      {
        UpdateExpression: 'SET clinic = :clinic, cv = :version',
        ExpressionAttributeValues: { ':clinic': infoOf(settings), ':version': settings.v ?? 0 },
      },
    )
    await table.transact([ifUnchanged(copy, { cv }), requireUnchanged(table, clinicKey(clinic), settings)])
  }

  function credentialDifference(
    row: Item,
    credential: Item | undefined,
    settings: Item | undefined,
  ): CredentialDifference | null {
    if (!credential) return 'credential_missing'
    const copy = (credential.clinic ?? {}) as Partial<ClinicInfo>
    if (copy.id !== clinic) return 'credential_foreign'
    if (row.v !== rowVersion(credential)) return 'credential_state_wrong'
    return settings && !isDeepStrictEqual(copy, infoOf(settings)) ? 'credential_outdated' : null
  }
}

/** The version of a credential's row: revoking increments it. */
const rowVersion = ({ revokedAt = null }: Item): number => ACTIVE_VERSION + (revokedAt === null ? 0 : 1)

const infoOf = (item: Item): ClinicInfo => clinicInfo(item as unknown as ClinicInfo)
