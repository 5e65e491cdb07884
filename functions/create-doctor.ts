import { createDoctor } from '../shared/api/new-doctor.ts'
import { inRecord } from '../shared/api/record-names.ts'
import { doctorResponse } from '../shared/requests/doctor-change.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { doctorChanges } from '../shared/store/copies/doctor-changes.ts'

export const handler = endpoint(
  createDoctor,
  { doctors: ({ table }) => doctorChanges(table) },
  (request, { doctors }) => {
    const fields = inRecord(request.body)
    // An earlier attempt may have created the doctor, although its response was lost.
    return doctorResponse(request, doctors, request.newId(), (before) => (before ? {} : fields))
  },
)
