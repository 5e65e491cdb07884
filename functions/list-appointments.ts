import { appointmentFilter, listAppointments, renderAppointment } from '../shared/api/appointments.ts'
import { worksDuring } from '../shared/domain/booking/slots.ts'
import type { ClinicInfo } from '../shared/domain/clinic.ts'
import { expandPatients } from '../shared/requests/expand-patients.ts'
import { readFilteredList } from '../shared/requests/record-list.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { appointmentListStore } from '../shared/store/calendar/appointments.ts'
import type { CalendarFilter } from '../shared/store/calendar/calendar-filter.ts'
import { doctorStore } from '../shared/store/doctors.ts'
import { patientStore } from '../shared/store/patients/patients.ts'

export const handler = endpoint(
  listAppointments,
  { patients: patientStore, appointments: appointmentListStore, doctors: doctorStore },
  async ({ clinic, query, now }, { patients, appointments, doctors }) => {
    const condition = query.outside_hours ? await outsideHours(doctors, clinic) : {}
    const page = await readFilteredList(
      'appointments',
      { clinic, query, now },
      appointments,
      { ...appointmentFilter(query), ...condition },
      renderAppointment,
    )
    return { ...page, data: await expandPatients(patients, { clinic, query }, page.data) }
  },
)

/** The condition that selects the appointments during which their doctor does not work. */
async function outsideHours(
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
