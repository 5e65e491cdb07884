import type * as z from 'zod'
import { type listPatients, renderPatient } from '../api/patients.ts'
import type { ClinicInfo } from '../domain/clinic.ts'
import { patientsByNationalId } from '../store/patients/national-ids.ts'
import { isPatientCursor, patientsByExternalId } from '../store/patients/patients.ts'
import { patientSearch } from '../store/patients/search.ts'
import type { Table } from '../store/table/table.ts'
import { readRecordList } from './record-list.ts'

export const patientListStores = ({ table }: { table: Table }) => ({
  patients: patientSearch({ table }),
  identified: patientsByNationalId({ table }),
  byExternalId: patientsByExternalId({ table }),
})

type Request = {
  readonly clinic: ClinicInfo
  readonly query: z.output<typeof listPatients.query>
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Reads the patients that a query asks for: all, those that a search finds, those with a national id, or the one with an external id. */
export function readPatientList(
  { patients, identified, byExternalId }: ReturnType<typeof patientListStores>,
  request: Request,
) {
  const { clinic, query } = request
  const { search = '', national_id: nationalId, is_active: isActive, external_id: externalId } = query
  return readRecordList(
    'patients',
    request,
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
}
