import { ApiError } from '../shared/api/errors.ts'
import { activatePatient } from '../shared/api/patient-status.ts'
import { renderPatientDetails } from '../shared/api/patients.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { patientResponse } from '../shared/runtime/patient-response.ts'
import { patientUpdates } from '../shared/store/patients/patient-updates.ts'

export const handler = endpoint(
  activatePatient,
  { patients: patientUpdates },
  async ({ clinicId, credential, path, idempotency }, { patients }) => {
    const changed = await patients.update(clinicId, path.id, () => ({ isActive: true }), {
      idempotency,
      status: 200,
      response: (patient) => ({ data: renderPatientDetails(patient, credential) }),
    })
    if (!changed) throw new ApiError('patient_not_found')
    return patientResponse(changed, credential)
  },
)
