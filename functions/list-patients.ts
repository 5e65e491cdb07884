import { listPatients, renderPatient } from '../shared/api/patients.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { readRecordList } from '../shared/runtime/record-list.ts'
import { isPatientPosition } from '../shared/store/patients/patients.ts'
import { patientsByNationalId } from '../shared/store/patients/patients-by-national-id.ts'
import { patientSearch } from '../shared/store/patients/search.ts'

export const handler = endpoint(
  listPatients,
  { patients: patientSearch, identified: patientsByNationalId },
  async ({ clinicId, clinic, query, now }, { patients, identified }) => {
    const { search = '', national_id: nationalId } = query
    const isActive = query.is_active && query.is_active === 'true'
    return readRecordList(
      'patients',
      { clinic, query, now },
      {
        page: (request) =>
          nationalId === undefined
            ? patients.search(clinicId, search, request, isActive)
            : identified.page(clinicId, nationalId, request),
        after: (position, limit) =>
          nationalId === undefined
            ? patients.searchAfter(clinicId, search, position, limit, isActive)
            : identified.after(clinicId, nationalId, position, limit),
        isPosition: isPatientPosition,
        changes: (range, limit) => patients.changes(clinicId, range, limit),
      },
      (patient) => renderPatient(patient, clinic),
    )
  },
)
