import { listPatients } from '../shared/api/patients.ts'
import { readPatientList } from '../shared/requests/patient-list.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { patientsByNationalId } from '../shared/store/patients/national-ids.ts'
import { patientSearch } from '../shared/store/patients/search.ts'

export const handler = endpoint(
  listPatients,
  { patients: patientSearch, identified: patientsByNationalId },
  ({ clinic, query, now }, stores) => readPatientList(stores, { clinic, query, now }),
)
