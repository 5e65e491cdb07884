/** Creating and updating a patient, apart from patients.ts: the rules of phone numbers are a quarter of a bundle. */
import * as z from 'zod'
import type { WallClock } from '../domain/clock.ts'
import { ApiError } from './errors.ts'
import { OnePatient, patientFields, patientRecord } from './patients.ts'
import { defineRoute } from './route.ts'

const PatientCreate = z.strictObject(patientFields()).meta({ id: 'PatientCreate' })

const PatientChanges = z
  .strictObject(patientFields())
  .partial({ first_name: true })
  .meta({ id: 'PatientChanges' })

/** @throws ApiError if the date of birth is after the current date in the clinic's time zone */
export function checkDateOfBirth(
  { date_of_birth: date }: Pick<z.output<typeof PatientCreate>, 'date_of_birth'>,
  clock: WallClock,
): void {
  if (!date || date <= clock.date) return
  throw new ApiError('validation', {
    details: [{ field: 'date_of_birth', issue: 'must not be in the future' }],
  })
}

export const createPatient = defineRoute({
  id: 'create-patient',
  method: 'POST',
  path: '/patients',
  summary: 'Create a patient',
  description:
    'Search finds the patient immediately. Several patients may share a phone number or an email address, as families do.',
  scope: 'patient.write',
  readScope: 'patient.read',
  body: PatientCreate,
  response: { status: 201, body: OnePatient, record: patientRecord, location: '/patients' },
  errors: ['external_id_taken'],
  uses: { memory: 1024 },
})

export const updatePatient = defineRoute({
  id: 'update-patient',
  method: 'PATCH',
  path: '/patients/{id}',
  summary: 'Update a patient',
  description:
    'Changes only the fields that are sent; null clears an optional one. Search finds the new values immediately. A new name ' +
    'appears in the records of the patient shortly afterwards.',
  scope: 'patient.write',
  readScope: 'patient.read',
  params: { id: 'patient_not_found' },
  body: PatientChanges,
  response: { status: 200, body: OnePatient, record: patientRecord },
  errors: ['patient_not_found', 'precondition_failed', 'external_id_taken'],
  uses: { memory: 1024 },
})
