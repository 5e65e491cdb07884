import { listPatients, renderPatient } from '../shared/api/patients.ts'
import { renderPage } from '../shared/api/schemas.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { patientSearch } from '../shared/store/patients/search.ts'

export const handler = endpoint(
  listPatients,
  { patients: patientSearch },
  async ({ clinicId, clinic, query }, { patients }) => {
    const page = await patients.search(clinicId, query.search ?? '', query)
    return renderPage(page, query, (patient) => renderPatient(patient, clinic))
  },
)
