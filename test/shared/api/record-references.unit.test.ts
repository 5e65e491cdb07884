/** A write scope alone reads nothing: what changes return without the read scope. */
import { expect, it } from 'vitest'
import { appointmentReference, renderAppointment } from '../../../shared/api/appointments.ts'
import { patientReference, renderPatientDetails } from '../../../shared/api/patients.ts'
import { SCOPES } from '../../../shared/domain/scope.ts'
import * as example from '../../../shared/openapi/example-records.ts'

const { clinic } = example
const patient = renderPatientDetails(example.patient, { clinic, scopes: SCOPES })
const cancelled = { ...example.appointment, cancellationReason: 'Moves away' }
const appointment = renderAppointment(cancelled, clinic)

const PATIENT_STATUS = {
  id: patient.id,
  is_active: patient.is_active,
  created_at: patient.created_at,
  updated_at: patient.updated_at,
  erased_at: patient.erased_at,
}

it('a reference to a patient has the fields that were sent', () => {
  const { first_name, national_id } = patient
  expect(patientReference.of(patient, {})).toEqual(PATIENT_STATUS)
  expect(patientReference.of(patient, { first_name, national_id })).toEqual({
    ...PATIENT_STATUS,
    first_name,
    national_id,
  })
})

it('a reference to an appointment has the fields that were sent, and ids for names', () => {
  const { id, status, confirmed_at, checked_in_at, cancelled_at, created_at, updated_at } = appointment
  const always = { id, status, confirmed_at, checked_in_at, cancelled_at, created_at, updated_at }
  expect(appointmentReference.of(appointment, {})).toEqual(always)
  // The end of an appointment tells its start to who knows the duration.
  for (const other of [{ reason: 'Another' }, { duration: 30 }])
    expect(appointmentReference.of(appointment, other)).toEqual(always)
  const sent = {
    patient_id: appointment.patient.id,
    doctor_id: appointment.doctor.id,
    start_time: appointment.start_time,
    duration: 30,
    treatment_ids: [],
    room_id: null,
    reason: 'Moves away',
  }
  expect(appointmentReference.of(appointment, sent)).toEqual({
    ...always,
    patient: { id: appointment.patient.id },
    doctor: { id: appointment.doctor.id },
    start_time: appointment.start_time,
    end_time: appointment.end_time,
    treatments: appointment.treatments.map((treatment) => ({ id: treatment.id })),
    room: appointment.room && { id: appointment.room.id },
    cancellation_reason: 'Moves away',
  })
})
