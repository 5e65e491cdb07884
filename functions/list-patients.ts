import { listPatients, renderPatient } from '../shared/api/patients.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { readRecordList } from '../shared/runtime/record-list.ts'
import { patientSearch } from '../shared/store/patients/search.ts'

export const handler = endpoint(
  listPatients,
  { patients: patientSearch },
  async ({ clinicId, clinic, query, now }, { patients }) => {
    const { search = '' } = query
    return readRecordList(
      'patients',
      { clinic, query, now },
      {
        page: (request) => patients.search(clinicId, search, request),
        after: (position, limit) => patients.searchAfter(clinicId, search, position, limit),
        changes: (range, limit) => patients.changes(clinicId, range, limit),
      },
      (patient) => renderPatient(patient, clinic),
    )
  },
)
