import { appointmentFilter, listAppointments, renderAppointment } from '../shared/api/appointments.ts'
import { expandPatients } from '../shared/requests/expand-patients.ts'
import { outsideHours } from '../shared/requests/outside-hours.ts'
import { readFilteredList } from '../shared/requests/record-list.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { appointmentListStore } from '../shared/store/calendar/appointments.ts'
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
