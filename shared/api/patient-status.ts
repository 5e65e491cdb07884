/** Activating and deactivating a patient. */
import { OnePatient, patientRecord } from './patients.ts'
import { defineRoute } from './route.ts'
import { NoFields } from './schemas.ts'

const change = {
  method: 'POST',
  scope: 'patient.write',
  readScope: 'patient.read',
  params: { id: 'patient_not_found' },
  body: NoFields,
  response: { status: 200, body: OnePatient, record: patientRecord },
  errors: ['patient_not_found', 'precondition_failed'],
} as const

export const deactivatePatient = defineRoute({
  ...change,
  id: 'deactivate-patient',
  path: '/patients/{id}/deactivate',
  summary: 'Deactivate a patient',
  description:
    'Until the patient is activated again, appointments cannot be booked and messages cannot be sent. The patient is still ' +
    'listed and found. Changes nothing if the patient is inactive already.',
})

export const activatePatient = defineRoute({
  ...change,
  id: 'activate-patient',
  path: '/patients/{id}/activate',
  summary: 'Activate a patient',
  description: 'Reverses a deactivation. Changes nothing if the patient is active already.',
})
