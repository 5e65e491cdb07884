import { listTimeOff, renderTimeOff } from '../shared/api/time-off.ts'
import { formatSpan } from '../shared/domain/booking/doctor-days.ts'
import { renderListPage } from '../shared/requests/list-page.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { doctorStore } from '../shared/store/doctors.ts'

export const handler = endpoint(
  listTimeOff,
  { doctors: doctorStore },
  async ({ clinicId, path, query }, { doctors }) => {
    const doctor = await doctors.find(clinicId, path.id)
    if (!doctor) return null
    const { from = '', to = '~' } = query
    const within = doctor.timeOff.filter((one) => from <= one.to && one.from <= to)
    const sorted = within.toSorted((a, b) => (formatSpan(a) < formatSpan(b) ? -1 : 1))
    return renderListPage(
      sorted.map((one) => renderTimeOff(doctor.id, one)),
      query,
      (one) => one,
    )
  },
)
