import { getSchedule, renderScheduleDay } from '../shared/api/schedule.ts'
import { scheduleOf } from '../shared/domain/booking/slots.ts'
import { addDays } from '../shared/domain/clock.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { doctorStore } from '../shared/store/doctors.ts'

export const handler = endpoint(
  getSchedule,
  { doctors: doctorStore },
  async ({ clinicId, clinic: { timezone }, path, query }, { doctors }) => {
    const doctor = await doctors.find(clinicId, path.id)
    if (!doctor) return null
    const { date: first, date_to: last = first } = query
    const data = []
    for (let date = first; date <= last; date = addDays(date, 1))
      data.push(renderScheduleDay(date, scheduleOf({ doctor, date, timezone })))
    return { data, meta: { doctor_id: doctor.id, date: first, date_to: last, timezone } }
  },
)
