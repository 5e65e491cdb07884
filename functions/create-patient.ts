import { ApiError } from '../shared/api/errors.ts'
import { createPatient } from '../shared/api/new-patient.ts'
import { renderPatient } from '../shared/api/patients.ts'
import { wallClock } from '../shared/domain/clock.ts'
import type { Patient } from '../shared/domain/patient.ts'
import type { Stamped } from '../shared/domain/stamped.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { patientWriter } from '../shared/store/patients/patient-writer.ts'
import { StoredResponse } from '../shared/store/table/idempotency.ts'

export const handler = endpoint(
  createPatient,
  { patients: patientWriter },
  async ({ clinicId, clinic, body, now, newId, idempotency }, { patients }) => {
    if (body.date_of_birth && body.date_of_birth > wallClock(now, clinic.timezone).date) {
      throw new ApiError('validation', {
        details: [{ field: 'date_of_birth', issue: 'must not be in the future' }],
      })
    }
    const patient: Patient = {
      id: newId(),
      firstName: body.first_name,
      lastName: body.last_name,
      dateOfBirth: body.date_of_birth ?? null,
      gender: body.gender ?? null,
      phoneNumber: body.phone_number ?? null,
      emailAddress: body.email_address ?? null,
      createdAt: new Date(now).toISOString(),
      erasedAt: null,
    }
    const response = (created: Stamped<Patient>) => ({ data: renderPatient(created, clinic) })
    const outcome = await patients.create(clinicId, patient, idempotency, 201, response)
    return outcome instanceof StoredResponse ? outcome : response(outcome)
  },
)
