import type { ClinicId } from '../../../domain/clinic.ts'
import { patientRowKey } from '../../../store/keys/patients.ts'
import { rowItem, type StoredPatient, toStoredPatient } from '../../../store/patients/patients.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { readable } from './readable.ts'

/** A patient's record; null if it is not in the form that its store writes. The ordinal may have any value. */
export const decodeStoredPatient = (item: Item): StoredPatient | null =>
  Number.isInteger(item.v) ? readable(() => toStoredPatient(item)) : null

export const isOrdinal = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 10_000_000_000

export const listRowOf = (clinic: ClinicId, patient: StoredPatient): Item => {
  const { ordinal, version: _, events: __, imported: ___, isLinkedByApi: ____, ...facts } = patient
  return rowItem(patientRowKey(clinic, ordinal), facts)
}

/** Whether a row has more than its key and the id of a patient: it may be the last copy. */
export const holdsPatient = (row: Item): boolean =>
  Object.keys(row).some((name) => !['pk', 'sk', 'i'].includes(name))
