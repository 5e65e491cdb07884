import { deactivatePatient } from '../shared/api/patient-status.ts'
import { setPatientActive } from '../shared/requests/patient-status.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { patientUpdates } from '../shared/store/patients/patient-updates.ts'

export const handler = endpoint(deactivatePatient, { patients: patientUpdates }, (request, { patients }) =>
  setPatientActive(request, patients, false),
)
