import { listPatients } from '../shared/api/patients.ts'
import { patientListStores, readPatientList } from '../shared/requests/patient-list.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'

export const handler = endpoint(
  listPatients,
  { stores: patientListStores },
  ({ clinic, query, now }, { stores }) => readPatientList(stores, { clinic, query, now }),
)
