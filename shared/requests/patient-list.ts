import type * as z from 'zod'
import { type listPatients, renderPatient } from '../api/patients.ts'
import type { ClinicInfo } from '../domain/clinic.ts'
import type { patientsByNationalId } from '../store/patients/national-ids.ts'
import { isPatientCursor } from '../store/patients/patients.ts'
import type { patientSearch } from '../store/patients/search.ts'
import { readRecordList } from './record-list.ts'

type Stores = {
  readonly patients: ReturnType<typeof patientSearch>
  readonly identified: ReturnType<typeof patientsByNationalId>
}

type Request = {
  readonly clinic: ClinicInfo
  readonly query: z.output<typeof listPatients.query>
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Reads the patients that a query asks for: all, those that a search finds, or those with a national id. */
export function readPatientList({ patients, identified }: Stores, request: Request) {
  const { clinic, query } = request
  const { search = '', national_id: nationalId, is_active: isActive } = query
  return readRecordList(
    'patients',
    request,
    {
      page: (page) =>
        nationalId === undefined
          ? patients.search(clinic.id, search, page, isActive)
          : identified.page(clinic.id, nationalId, page),
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
