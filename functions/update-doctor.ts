import { updateDoctor } from '../shared/api/new-doctor.ts'
import { inRecord } from '../shared/api/record-names.ts'
import { doctorResponse } from '../shared/requests/doctor-change.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { doctorChanges } from '../shared/store/copies/doctor-changes.ts'

export const handler = endpoint(
  updateDoctor,
  { doctors: ({ table }) => doctorChanges(table) },
  (request, { doctors }) => {
    const fields = inRecord(request.body)
    return doctorResponse(request, doctors, request.path.id, (before) => before && fields)
  },
)
