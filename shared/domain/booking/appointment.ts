import { copied, eraseTo, type FieldPolicies, KEEP } from '../field-policy.ts'
import { ERASED_FULL_NAME } from '../patients/patient.ts'

export const APPOINTMENT_STATUSES = ['scheduled', 'completed', 'cancelled', 'no_show'] as const
export type AppointmentStatus = (typeof APPOINTMENT_STATUSES)[number]

/** A patient or doctor with the name copied into another record, so that lists need no further read. */
export type PersonReference = { readonly id: string; readonly fullName: string }

/** A treatment or room of the clinic's catalogue, with its name at the time of the booking. */
export type CatalogueReference = { readonly id: string; readonly name: string }

/** An appointment of one patient to one doctor. It never spans midnight. */
export type Appointment = {
  readonly id: string
  readonly patient: PersonReference
  readonly doctor: PersonReference
  /** Clinic-local `Y-m-d`. */
  readonly date: string
  /** Clinic-local `HH:MM`. */
  readonly startTime: string
  readonly endTime: string
  readonly status: AppointmentStatus
  readonly notes: string | null
  /** The treatments and the room that it was booked for, if they are known. */
  readonly treatments: readonly CatalogueReference[]
  readonly room: CatalogueReference | null
  /** When the patient confirmed it; an instant, like the two after it. */
  readonly confirmedAt: string | null
  /** When the patient arrived. */
  readonly checkedInAt: string | null
  readonly cancelledAt: string | null
  readonly cancellationReason: string | null
  /** The id in another system of the clinic or of an integrator; unique in the clinic. */
  readonly externalId: string | null
  /** ISO 8601 instant in UTC. */
  readonly createdAt: string
}

export const NEW_APPOINTMENT = {
  status: 'scheduled',
  notes: null,
  treatments: [],
  room: null,
  confirmedAt: null,
  checkedInAt: null,
  cancelledAt: null,
  cancellationReason: null,
  externalId: null,
} as const satisfies Partial<Appointment>

/** A patient's name as other records copy it. */
export const PATIENT_REFERENCE_FIELDS = {
  id: KEEP,
  fullName: copied(eraseTo(ERASED_FULL_NAME)),
} satisfies FieldPolicies<PersonReference>

/** A doctor's name survives the erasure of a patient. */
export const DOCTOR_REFERENCE_FIELDS = {
  id: KEEP,
  fullName: copied(KEEP),
} satisfies FieldPolicies<PersonReference>

/** Treatments and rooms say nothing about the patient that the appointment itself does not. */
export const CATALOGUE_REFERENCE_FIELDS = { id: KEEP, name: KEEP } satisfies FieldPolicies<CatalogueReference>

export const APPOINTMENT_FIELDS = {
  id: KEEP,
  patient: { fields: PATIENT_REFERENCE_FIELDS },
  doctor: { fields: DOCTOR_REFERENCE_FIELDS },
  date: KEEP,
  startTime: KEEP,
  endTime: KEEP,
  status: KEEP,
  notes: eraseTo(null),
  treatments: { each: CATALOGUE_REFERENCE_FIELDS },
  room: { fields: CATALOGUE_REFERENCE_FIELDS },
  confirmedAt: KEEP,
  checkedInAt: KEEP,
  cancelledAt: KEEP,
  cancellationReason: eraseTo(null),
  externalId: eraseTo(null),
  createdAt: KEEP,
} satisfies FieldPolicies<Appointment>

/** Whether an action may change an appointment's status. Only a scheduled appointment can end; a closed one is reopened first. */
export const canTransition = (from: AppointmentStatus, to: AppointmentStatus): boolean =>
  from === 'scheduled' && to !== from

/** Whether an appointment of this status takes the doctor's time. Cancelled and missed ones free the slot. */
export const occupiesSlot = (status: AppointmentStatus): boolean =>
  status === 'scheduled' || status === 'completed'
