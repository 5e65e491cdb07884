import { worksDuring } from '../domain/booking/slots.ts'
import type { ClinicInfo } from '../domain/clinic.ts'
import type { CalendarFilter } from '../store/calendar/calendar-filter.ts'
import type { doctorStore } from '../store/doctors.ts'

/** The condition that selects the appointments during which their doctor does not work. */
export async function outsideHours(
  doctors: ReturnType<typeof doctorStore>,
  { id, timezone }: ClinicInfo,
): Promise<Pick<CalendarFilter<never>, 'selects'>> {
  const known = new Map((await doctors.list(id)).map((doctor) => [doctor.id, doctor]))
  return {
    selects: ({ doctor: doctorId = '', date, moment: startTime, end: endTime = startTime }) => {
      const doctor = known.get(doctorId)
      return doctor !== undefined && !worksDuring(doctor, { date, startTime, endTime }, timezone)
    },
  }
}
