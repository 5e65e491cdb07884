import type { ClinicId } from '../../../domain/clinic.ts'
import { provenanceOfItem } from '../../../store/external-ids/provenance.ts'
import { patientRowKey } from '../../../store/keys/patients.ts'
import { rowItem, type StoredPatient, toPatient } from '../../../store/patients/patients.ts'
import type { Item } from '../../../store/table/write-requests.ts'

/** A patient's record; null if it is not in the form that its store writes. The ordinal may have any value. */
export function decodeStoredPatient(item: Item): StoredPatient | null {
  try {
    const patient = toPatient(item)
    if (!Number.isInteger(item.v)) return null
    return {
      ...patient,
      ordinal: item.o as number,
      version: item.v as number,
      events: (item.ev as number | undefined) ?? 0,
      ...provenanceOfItem(item),
    }
  } catch {
    return null
  }
}

export const isOrdinal = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 10_000_000_000

/** The list row of a record. */
export const listRowOf = (clinic: ClinicId, patient: StoredPatient): Item => {
  const { ordinal, version: _, events: __, imported: ___, isLinkedByApi: ____, ...facts } = patient
  return rowItem(patientRowKey(clinic, ordinal), facts)
}
