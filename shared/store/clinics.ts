import type { Clinic, ClinicId } from '../domain/clinic.ts'
import { CLINIC_DIRECTORY_PARTITION, clinicDirectoryKey, clinicKey } from './keys/clinics.ts'
import { patientHeadKey } from './keys/patients.ts'
import { EMPTY_HEAD } from './patients/head.ts'
import type { Item, Table } from './table/table.ts'

/** Clinics are made and changed by the operator only. */
export function clinicStore({ table }: { table: Table }) {
  /** @throws ConditionFailed when the id is taken */
  async function create(clinic: Clinic): Promise<void> {
    await table.transact([
      table.putWrite({ ...clinicKey(clinic.id), ...clinic }, 'new'),
      table.putWrite({ ...clinicDirectoryKey(clinic.id) }),
      table.putWrite({ ...patientHeadKey(clinic.id), ...EMPTY_HEAD }, 'new'),
    ])
  }

  async function find(id: ClinicId): Promise<Clinic | null> {
    const item = await table.get(clinicKey(id))
    return item ? toClinic(item) : null
  }

  /** Every clinic, by name. */
  async function list(): Promise<Clinic[]> {
    const rows = await table.query({ pk: CLINIC_DIRECTORY_PARTITION, limit: 1_000_000 })
    const items = await table.getMany(rows.map((row) => clinicKey(row.sk as ClinicId)))
    return items.map(toClinic).sort((a, b) => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1))
  }

  /** @throws ConditionFailed when there is no such clinic */
  async function update({ id, createdAt: _, ...settings }: Clinic): Promise<void> {
    const given = Object.entries(settings).filter(([, value]) => value !== undefined)
    await table.update(clinicKey(id), {
      UpdateExpression: `SET ${given.map((_, at) => `#${at} = :${at}`).join(', ')}`,
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeNames: Object.fromEntries(given.map(([name], at) => [`#${at}`, name])),
      ExpressionAttributeValues: Object.fromEntries(given.map(([, value], at) => [`:${at}`, value])),
    })
  }

  return { create, find, list, update }
}

function toClinic(item: Item): Clinic {
  const { pk, sk, ...clinic } = item
  return clinic as unknown as Clinic
}
