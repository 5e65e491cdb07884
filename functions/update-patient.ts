import { ApiError } from '../shared/api/errors.ts'
import { checkDateOfBirth, updatePatient } from '../shared/api/new-patient.ts'
import { renderPatientDetails } from '../shared/api/patients.ts'
import { wallClock } from '../shared/domain/clock.ts'
import type { Patient } from '../shared/domain/patients/patient.ts'
import type { WithUpdatedAt } from '../shared/domain/with-updated-at.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { patientChanges } from '../shared/store/copies/patient-changes.ts'

/** The field of the patient that each field of the request changes. Without its line here, a new field does not compile. */
const FIELDS = {
  first_name: 'firstName',
  last_name: 'lastName',
  date_of_birth: 'dateOfBirth',
  gender: 'gender',
  phone_number: 'phoneNumber',
  email_address: 'emailAddress',
  national_id: 'nationalId',
  notes: 'notes',
  external_id: 'externalId',
} as const satisfies Record<keyof typeof updatePatient.body.shape, keyof Patient>

export const handler = endpoint(
  updatePatient,
  { patients: ({ table }) => patientChanges(table) },
  async ({ clinicId, clinic, credential, path, body, now, write }, { patients }) => {
    checkDateOfBirth(body, wallClock(now, clinic.timezone))
    const response = (patient: WithUpdatedAt<Patient>) => ({
      data: renderPatientDetails(patient, credential),
    })
    const fields = Object.fromEntries(
      Object.entries(body).map(([field, value]) => [FIELDS[field as keyof typeof FIELDS], value]),
    )
    const changed = await patients.updateIdempotently(clinicId, path.id, fields, write(response))
    if (!changed) throw new ApiError('patient_not_found')
    return response(changed)
  },
)
