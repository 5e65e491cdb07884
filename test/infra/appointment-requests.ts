import type { RequestInput } from '../support/event.ts'
import type { PopulatedClinic } from '../support/records.ts'

const json = { 'content-type': 'application/json' }

/** A Monday, on which the doctor works. */
const DATE = '2030-01-07'

/** Requests that make each endpoint of appointments use every grant. `open` are appointments that can still be changed. */
export const appointmentRequests = (
  { patient, doctor, treatment, appointment }: PopulatedClinic,
  [completed, missed, cancelled, moved]: readonly string[],
): Record<string, Omit<RequestInput, 'method'>[]> => ({
  'get-availability': [
    { query: { doctor_id: doctor.id, date: DATE } },
    { query: { treatment_id: treatment.id, date: DATE } },
  ],
  'get-appointment': [{ path: { id: appointment.id } }],
  // The second request finds the slot taken and looks for alternatives.
  'create-appointment': [1, 2].map(() => ({
    headers: json,
    body: JSON.stringify({
      patient_id: patient.id,
      doctor_id: doctor.id,
      appointment_date: DATE,
      start_time: '09:00',
    }),
  })),
  // Also here: the time that was booked is taken.
  'update-appointment': ['10:00', '09:00'].map((start_time) => ({
    path: { id: moved ?? '' },
    headers: json,
    body: JSON.stringify({ appointment_date: DATE, start_time }),
  })),
  'confirm-appointment': [{ path: { id: appointment.id } }],
  'check-in-appointment': [{ path: { id: appointment.id } }],
  'complete-appointment': [{ path: { id: completed ?? '' } }],
  'no-show-appointment': [{ path: { id: missed ?? '' } }],
  'cancel-appointment': [{ path: { id: cancelled ?? '' } }],
})
