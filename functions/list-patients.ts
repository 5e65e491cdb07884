import { listPatients, renderPatient } from '../shared/api/patients.ts'
import { renderPage } from '../shared/api/schemas.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { patientsByNationalId } from '../shared/store/patients/patients-by-national-id.ts'
import { patientSearch } from '../shared/store/patients/search.ts'

export const handler = endpoint(
  listPatients,
  { patients: patientSearch, identified: patientsByNationalId },
  async ({ clinicId, clinic, query }, { patients, identified }) => {
    const isActive = query.is_active && query.is_active === 'true'
    const page =
      query.national_id === undefined
        ? await patients.search(clinicId, query.search ?? '', query, isActive)
        : await identified.page(clinicId, query.national_id, query)
    return renderPage(page, query, (patient) => renderPatient(patient, clinic))
  },
)
