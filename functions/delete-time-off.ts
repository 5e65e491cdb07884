import { ApiError } from '../shared/api/errors.ts'
import { deleteTimeOff } from '../shared/api/time-off.ts'
import { formatSpan } from '../shared/domain/booking/doctor-days.ts'
import { timeOffId } from '../shared/domain/uuid.ts'
import { writeDoctor } from '../shared/requests/doctor-change.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { doctorChanges } from '../shared/store/copies/doctor-changes.ts'
import type { StoredDoctor } from '../shared/store/doctors.ts'

export const handler = endpoint(
  deleteTimeOff,
  { doctors: ({ table }) => doctorChanges(table) },
  async ({ clinic, path, write }, { doctors }) => {
    const remove = ({ timeOff }: StoredDoctor) => {
      const kept = timeOff.filter((one) => timeOffId(path.id, formatSpan(one)) !== path.time_off_id)
      if (kept.length === timeOff.length) throw new ApiError('time_off_not_found')
      return { timeOff: kept }
    }
    const request = write(() => ({}))
    // It leaves no appointment outside working hours.
    await writeDoctor(doctors, clinic, path.id, (one) => one && remove(one), request, false)
    return undefined
  },
)
