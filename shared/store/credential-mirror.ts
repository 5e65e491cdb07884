import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../domain/clinic.ts'
import { clinicStore } from './clinics.ts'
import { clinicInfo } from './credentials.ts'
import { clinicCredentialsPartition, credentialKey, lastUseKey } from './keys/clinics.ts'
import type { Table } from './table/table.ts'

/**
 * Makes a clinic's credentials in a restored table, and when they were last used, those of another table, with the restored
 * settings of the clinic. The clinic's list of them is not changed. Returns the number of items that differed.
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
