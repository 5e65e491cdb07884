import { listPatients, renderPatient } from '../shared/api/patients.ts'
import { readRecordList } from '../shared/requests/record-list.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { patientsByNationalId } from '../shared/store/patients/national-ids.ts'
import { isPatientCursor, patientsByExternalId } from '../shared/store/patients/patients.ts'
import { patientSearch } from '../shared/store/patients/search.ts'

/** Lists all patients, those that a search finds, those with a national id, or the one with an external id. */
export const handler = endpoint(
  listPatients,
  { patients: patientSearch, identified: patientsByNationalId, byExternalId: patientsByExternalId },
  ({ clinic, query, now }, { patients, identified, byExternalId }) => {
    const { search = '', national_id: nationalId, is_active: isActive, external_id: externalId } = query
    return readRecordList(
      'patients',
      { clinic, query, now },
      {
        page: (page) => {
          if (externalId !== undefined) return byExternalId(clinic.id, externalId)
          return nationalId === undefined
            ? patients.search(clinic.id, search, page, isActive)
            : identified.page(clinic.id, nationalId, page)
        },
        after: (cursor, limit) =>
          nationalId === undefined
            ? patients.searchAfter(clinic.id, search, cursor, limit, isActive)
            : identified.after(clinic.id, nationalId, cursor, limit),
        isCursor: isPatientCursor,
        changes: (range, limit) => patients.changes(clinic.id, range, limit),
      },
      (patient) => renderPatient(patient, clinic),
    )
  },
)
