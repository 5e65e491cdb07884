import {
  clinicCredentialKey,
  clinicCredentialsPartition,
  clinicDirectoryKey,
  credentialKey,
} from '../../../shared/store/keys/clinics.ts'
import type { Item } from '../../../shared/store/table/table.ts'
import { eachAbreast } from './each-abreast.ts'
import type { Inspection } from './inspection.ts'
import { partitionPages } from './partition-pages.ts'

/** What finds a clinic and its credentials: the operator's directory, and the list of its credentials' keys. */
export async function checkClinicIndexes({ table, clinic, count, examine }: Inspection): Promise<void> {
  await examine(async () => {
    const key = clinicDirectoryKey(clinic)
    if (await table.get(key)) return null
    return {
      faults: [{ kind: 'clinic_unlisted', key }],
      mend: () => table.transact([table.putWrite({ ...key })]),
    }
  })
  for await (const page of partitionPages(table, clinicCredentialsPartition(clinic))) {
    count('credentials', page.length)
    const credentials = await table.getMany(page.map(({ sk }) => credentialKey(sk)))
    const known = new Map(credentials.map((item) => [item.pk, item]))
    await eachAbreast(
      page.filter(({ sk }) => wrongWith(known.get(credentialKey(sk).pk)) !== null),
      ({ sk }) =>
        examine(async () => {
          const kind = wrongWith(await table.get(credentialKey(sk)))
          return kind && { faults: [{ kind, key: clinicCredentialKey(clinic, sk) }], mend: null }
        }),
    )
  }

  function wrongWith(credential: Item | undefined): 'credential_missing' | 'credential_foreign' | null {
    if (!credential) return 'credential_missing'
    const { id } = (credential.clinic ?? {}) as { id?: string }
    return id === clinic ? null : 'credential_foreign'
  }
}
