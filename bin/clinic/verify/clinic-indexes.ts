import { isDeepStrictEqual } from 'node:util'
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import { clinicInfo } from '../../../shared/store/credentials.ts'
import {
  clinicCredentialKey,
  clinicCredentialsPartition,
  clinicDirectoryKey,
  clinicKey,
  credentialKey,
} from '../../../shared/store/keys/clinics.ts'
import type { Item } from '../../../shared/store/table/write-requests.ts'
import { ifUnchanged, requireUnchanged } from './conditions.ts'
import type { FaultKind, Finding } from './fault.ts'
import { forEachConcurrent } from './for-each-concurrent.ts'
import type { Inspection } from './inspection.ts'
import { partitionPages } from './partition-pages.ts'

type CredentialFault = Extract<FaultKind, `credential_${string}`>

/**
 * Verifies the indexes of a clinic: the operator's directory of clinics, the list of the clinic's credentials, and the
 * settings of the clinic that each credential copies.
 */
export async function checkClinicIndexes({ table, clinic, count, examine }: Inspection): Promise<void> {
  await examine(async () => {
    const key = clinicDirectoryKey(clinic)
    if (await table.get(key)) return null
    return {
      faults: [{ kind: 'clinic_unlisted', key }],
      repair: () => table.transact([table.putWrite({ ...key })]),
    }
  })
  for await (const page of partitionPages(table, clinicCredentialsPartition(clinic))) {
    count('credentials', page.length)
    const settings = await table.get(clinicKey(clinic))
    const credentials = await table.getMany(page.map(({ sk }) => credentialKey(sk)))
    const known = new Map(credentials.map((item) => [item.pk, item]))
    await forEachConcurrent(
      page.filter(({ sk }) => credentialFault(known.get(credentialKey(sk).pk), settings) !== null),
      ({ sk }) => examine(() => recheckCredential(sk)),
    )
  }

  async function recheckCredential(id: string): Promise<Finding | 'moving' | null> {
    const settings = await table.get(clinicKey(clinic))
    const credential = await table.get(credentialKey(id))
    const again = await table.get(clinicKey(clinic))
    if (settings?.v !== again?.v) return 'moving'
    const kind = credentialFault(credential, settings)
    if (!kind) return null
    const repair = kind === 'credential_outdated' && credential && settings
    return {
      faults: [{ kind, key: clinicCredentialKey(clinic, id) }],
      repair: repair ? () => copySettings(credential, settings) : null,
    }
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

  function credentialFault(credential: Item | undefined, settings: Item | undefined): CredentialFault | null {
    if (!credential) return 'credential_missing'
    const copy = (credential.clinic ?? {}) as Partial<ClinicInfo>
    if (copy.id !== clinic) return 'credential_foreign'
    return settings && !isDeepStrictEqual(copy, infoOf(settings)) ? 'credential_outdated' : null
  }
}

const infoOf = (item: Item): ClinicInfo => clinicInfo(item as unknown as ClinicInfo)
