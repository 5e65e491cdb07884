import { checkDateOfBirth, updatePatient } from '../shared/api/new-patient.ts'
import { renderPatientDetails } from '../shared/api/patients.ts'
import { inRecord } from '../shared/api/record-names.ts'
import { wallClock } from '../shared/domain/clock.ts'
import type { Patient } from '../shared/domain/patients/patient.ts'
import type { WithUpdatedAt } from '../shared/domain/with-updated-at.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { patientChanges } from '../shared/store/copies/patient-changes.ts'

export const handler = endpoint(
  updatePatient,
  { patients: ({ table }) => patientChanges(table) },
  async ({ clinicId, clinic, credential, path, body, now, write }, { patients }) => {
    checkDateOfBirth(body, wallClock(now, clinic.timezone))
    const response = (patient: WithUpdatedAt<Patient>) => ({
      data: renderPatientDetails(patient, credential),
    })
    const changed = await patients.updateIdempotently(clinicId, path.id, inRecord(body), write(response))
    return changed && response(changed)
  },
)
