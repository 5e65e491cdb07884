/** Decides whether an appointment can be booked. */

import { fullName, type Patient } from '../patients/patient.ts'
import { type Appointment, NEW_APPOINTMENT } from './appointment.ts'
import {
  type Moment,
  type Placement,
  type PlacementFacts,
  type PlacementRejection,
  placedFields,
  placementRejection,
  rejectionFor,
} from './placement.ts'

/** A request for an appointment, the same at every attempt to book it. */
export type BookingRequest = Placement &
  Moment & {
    /** The new appointment's id. */
    readonly id: string
    readonly patient: string
    readonly notes: string | null
    readonly externalId: string | null
    /** The hold that the booking ends, whose time it takes. */
    readonly hold?: string | undefined
    /** ISO 8601 instant in UTC. */
    readonly createdAt: string
  }

/** The stored facts about the patient, and about the doctor, treatments and room of the booking. */
export type BookingFacts = PlacementFacts & { readonly patient: Patient | null }

export type BookingVerdict =
  | { readonly kind: 'booked'; readonly appointment: Appointment }
  | { readonly kind: 'patient_not_found' }
  | PlacementRejection

/** Decides on a booking. An erased patient counts as not found. */
export function bookAppointment(request: BookingRequest, facts: BookingFacts): BookingVerdict {
  const { patient, doctor, treatments } = facts
  if (!patient || patient.erasedAt) return { kind: 'patient_not_found' }
  if (!doctor) return { kind: 'doctor_not_found' }
  const rejection = rejectionFor(patient, placementRejection(request, facts, request))
  if (rejection) return rejection
  const appointment: Appointment = {
    ...NEW_APPOINTMENT,
    id: request.id,
    patient: { id: patient.id, fullName: fullName(patient) },
    ...placedFields(request, { ...facts, doctor }),
    notes: request.notes,
    externalId: request.externalId,
    treatments: request.treatments.map((id) => ({ id, name: treatments.get(id)?.name ?? '' })),
    createdAt: request.createdAt,
  }
  return { kind: 'booked', appointment }
}
