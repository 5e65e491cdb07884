import {
  clinicCredentialKey,
  clinicCredentialsPartition,
  clinicDirectoryKey,
  credentialKey,
} from '../../../shared/store/keys/clinics.ts'
import type { Item } from '../../../shared/store/table/table.ts'
import { forEachConcurrent } from './for-each-concurrent.ts'
import type { Inspection } from './inspection.ts'
import { partitionPages } from './partition-pages.ts'

/** Verifies the indexes of a clinic: the operator's directory of clinics and the list of the clinic's credentials. */
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
    const credentials = await table.getMany(page.map(({ sk }) => credentialKey(sk)))
    const known = new Map(credentials.map((item) => [item.pk, item]))
    await forEachConcurrent(
      page.filter(({ sk }) => credentialFault(known.get(credentialKey(sk).pk)) !== null),
      ({ sk }) =>
        examine(async () => {
          const kind = credentialFault(await table.get(credentialKey(sk)))
          return kind && { faults: [{ kind, key: clinicCredentialKey(clinic, sk) }], repair: null }
        }),
    )
  }

  function credentialFault(credential: Item | undefined): 'credential_missing' | 'credential_foreign' | null {
    if (!credential) return 'credential_missing'
    const { id } = (credential.clinic ?? {}) as { id?: string }
    return id === clinic ? null : 'credential_foreign'
  }
}
