import { ApiError } from '../shared/api/errors.ts'
import { createTimeOff, renderTimeOff, timeOffOf } from '../shared/api/time-off.ts'
import { isSameSpan, type TimeOff } from '../shared/domain/booking/doctor.ts'
import { formatTimeOff, MAX_DAYS_TEXT } from '../shared/domain/booking/doctor-days.ts'
import { writeDoctor } from '../shared/requests/doctor-change.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { type DoctorOutcome, doctorChanges } from '../shared/store/copies/doctor-changes.ts'
import type { StoredDoctor } from '../shared/store/doctors.ts'

export const handler = endpoint(
  createTimeOff,
  { doctors: ({ table }) => doctorChanges(table) },
  async ({ clinic, mayReadRecord, path, body, write }, { doctors }) => {
    const asked = timeOffOf(body)
    const add = ({ timeOff }: StoredDoctor) => {
      if (timeOff.some((one) => isSameSpan(one, asked))) return {}
      const after = [...timeOff, asked]
      if (formatTimeOff(after).length <= MAX_DAYS_TEXT) return { timeOff: after }
      const issue = 'cannot be added: the doctor has too much time off. Delete past time off first'
      throw new ApiError('validation', { details: [{ field: 'from', issue }] })
    }
    const response = ({ doctor, outside }: DoctorOutcome) => {
      const stored = doctor.timeOff.find((one) => isSameSpan(one, asked)) as TimeOff
      const data = renderTimeOff(path.id, mayReadRecord ? stored : asked)
      return { data, meta: { appointments_outside: outside } }
    }
    return response(await writeDoctor(doctors, clinic, path.id, (one) => one && add(one), write(response)))
  },
)
