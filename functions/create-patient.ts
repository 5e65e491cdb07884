import { checkDateOfBirth, createPatient } from '../shared/api/new-patient.ts'
import { renderPatientDetails } from '../shared/api/patients.ts'
import { inRecord } from '../shared/api/record-names.ts'
import { wallClock } from '../shared/domain/clock.ts'
import { NO_DETAILS, type Patient } from '../shared/domain/patients/patient.ts'
import type { WithUpdatedAt } from '../shared/domain/with-updated-at.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { patientWriter } from '../shared/store/patients/patient-writer.ts'

export const handler = endpoint(
  createPatient,
  { patients: patientWriter },
  async ({ clinicId, clinic, credential, body, now, newId, write }, { patients }) => {
    checkDateOfBirth(body, wallClock(now, clinic.timezone))
    const patient: Patient = {
      lastName: '',
      ...NO_DETAILS,
      ...inRecord(body),
      id: newId(),
      createdAt: new Date(now).toISOString(),
    }
    const response = (created: WithUpdatedAt<Patient>) => ({
      data: renderPatientDetails(created, credential),
    })
    return response(await patients.create(clinicId, patient, write(response)))
  },
)
