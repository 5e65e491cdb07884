import { checkDateOfBirth, createPatient } from '../shared/api/new-patient.ts'
import { renderPatientDetails } from '../shared/api/patients.ts'
import { wallClock } from '../shared/domain/clock.ts'
import type { Patient } from '../shared/domain/patients/patient.ts'
import type { WithUpdatedAt } from '../shared/domain/with-updated-at.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { patientWriter } from '../shared/store/patients/patient-writer.ts'

export const handler = endpoint(
  createPatient,
  { patients: patientWriter },
  async ({ clinicId, clinic, credential, body, now, newId, write }, { patients }) => {
    checkDateOfBirth(body, wallClock(now, clinic.timezone))
    const patient: Patient = {
      id: newId(),
      firstName: body.first_name,
      lastName: body.last_name ?? '',
      dateOfBirth: body.date_of_birth ?? null,
      gender: body.gender ?? null,
      phoneNumber: body.phone_number ?? null,
      emailAddress: body.email_address ?? null,
      isActive: true,
      nationalId: body.national_id ?? null,
      notes: body.notes ?? null,
      externalId: body.external_id ?? null,
      createdAt: new Date(now).toISOString(),
      erasedAt: null,
    }
    const response = (created: WithUpdatedAt<Patient>) => ({
      data: renderPatientDetails(created, credential),
    })
    return response(await patients.create(clinicId, patient, write(response)))
  },
)
