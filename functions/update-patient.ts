import { ApiError } from '../shared/api/errors.ts'
import { checkDateOfBirth, updatePatient } from '../shared/api/new-patient.ts'
import { renderPatientDetails } from '../shared/api/patients.ts'
import { wallClock } from '../shared/domain/clock.ts'
import type { Patient } from '../shared/domain/patients/patient.ts'
import type { WithUpdatedAt } from '../shared/domain/with-updated-at.ts'
import { patientResponse } from '../shared/requests/patient-response.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { patientChanges } from '../shared/store/copies/patient-changes.ts'

export const handler = endpoint(
  updatePatient,
  { patients: ({ table }) => patientChanges(table) },
  async (
    { clinicId, clinic, credential, path, body, now, checkIfMatch, reportUnchanged, idempotency },
    { patients },
  ) => {
    checkDateOfBirth(body, wallClock(now, clinic.timezone))
    const response = (patient: WithUpdatedAt<Patient>) => ({
      data: renderPatientDetails(patient, credential),
    })
    const changed = await patients.updateIdempotently(
      clinicId,
      path.id,
      (before) => {
        checkIfMatch(before, response)
        return {
          ...(body.first_name !== undefined && { firstName: body.first_name }),
          ...(body.last_name !== undefined && { lastName: body.last_name }),
          ...(body.date_of_birth !== undefined && { dateOfBirth: body.date_of_birth }),
          ...(body.gender !== undefined && { gender: body.gender }),
          ...(body.phone_number !== undefined && { phoneNumber: body.phone_number }),
          ...(body.email_address !== undefined && { emailAddress: body.email_address }),
          ...(body.national_id !== undefined && { nationalId: body.national_id }),
          ...(body.notes !== undefined && { notes: body.notes }),
          ...(body.external_id !== undefined && { externalId: body.external_id }),
        }
      },
      { idempotency, status: 200, response },
    )
    if (!changed) throw new ApiError('patient_not_found')
    reportUnchanged(changed)
    return patientResponse(changed, credential)
  },
)
