/** Activating and deactivating a patient. */
import * as z from 'zod'
import { OnePatient, patientReference } from './patients.ts'
import { defineRoute } from './route.ts'

const change = {
  method: 'POST',
  scope: 'patient.write',
  params: { id: 'patient_not_found' },
  get body() {
    return z.strictObject({}).meta({ id: 'NoFields' })
  },
  response: { status: 200, body: OnePatient, record: { reference: patientReference } },
  errors: ['patient_not_found', 'precondition_failed'],
  uses: {
    table: ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
    reads: ['patients', 'patient-head', 'inactive-patients'],
    writes: [
      'patients',
      'patient-list',
      'patient-head',
      'patient-changes',
      'inactive-patients',
      'announced-events',
    ],
  },
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
