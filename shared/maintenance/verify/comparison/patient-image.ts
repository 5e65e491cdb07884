import type { PersonReference } from '../../../domain/booking/appointment.ts'
import type { ClinicId } from '../../../domain/clinic.ts'
import { fullName } from '../../../domain/patients/patient.ts'
import { APPOINTMENTS } from '../../../store/calendar/appointments.ts'
import type { CalendarEntity } from '../../../store/calendar/calendar-entity.ts'
import { INVOICES } from '../../../store/calendar/invoices.ts'
import { PAYMENTS } from '../../../store/calendar/payments.ts'
import { ownerPartition } from '../../../store/keys/calendar.ts'
import { patientOwner, staleCopiesKey } from '../../../store/keys/copies.ts'
import { patientRowKey } from '../../../store/keys/patients.ts'
import { rowItem, type StoredPatient, toStoredPatient } from '../../../store/patients/patients.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import type { Inspection } from './inspection.ts'
import { readable } from './readable.ts'
import { recordOfRow } from './record-image.ts'

/** A patient's record; null if it is not in the form that its store writes. The ordinal may have any value. */
export const decodeStoredPatient = (item: Item): StoredPatient | null =>
  Number.isInteger(item.v) ? readable(() => toStoredPatient(item)) : null

export const isOrdinal = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 10_000_000_000

/** Lists whose rows show the name of their patient. */
const COPIES = [APPOINTMENTS, INVOICES, PAYMENTS] as unknown as readonly CalendarEntity<
  { readonly patient: PersonReference },
  never
>[]

/** Rows of each that are read. */
const ROWS = 10

/**
 * The patient with the name of its row, if that is what records of the patient show, and none shows the name of the patient's record. Null
 * if the record is right, or the only one to say so: it is taken then.
 */
export async function withNameOfRow(
  { table, clinic }: Pick<Inspection, 'table' | 'clinic'>,
  patient: StoredPatient,
  row: Item,
): Promise<StoredPatient | null> {
  const listed = decodeStoredPatient({ ...row, v: patient.version })
  if (row.i !== patient.id || !listed || fullName(listed) === fullName(patient)) return null
  // Copies show an earlier name until they are refreshed.
  if (await table.get(staleCopiesKey(clinic, patientOwner(patient.id)))) return null
  const shown = new Set<string | undefined>()
  for (const entity of COPIES) {
    const pk = ownerPartition(clinic, entity.entityCode, 'patient', patient.id)
    const rows = await table.query({ pk, limit: ROWS })
    for (const one of rows) shown.add(recordOfRow(entity, one)?.patient.fullName)
  }
  if (!shown.has(fullName(listed)) || shown.has(fullName(patient))) return null
  return { ...patient, firstName: listed.firstName, lastName: listed.lastName }
}

export const listRowOf = (clinic: ClinicId, patient: StoredPatient): Item => {
  const { ordinal, version: _, events: __, imported: ___, isLinkedByApi: ____, ...facts } = patient
  return rowItem(patientRowKey(clinic, ordinal), facts)
}

/** Whether a row has more than its key and the id of a patient: it may be the last copy. */
export const holdsPatient = (row: Item): boolean =>
  Object.keys(row).some((name) => !['pk', 'sk', 'i'].includes(name))
