import { appointmentFilter, listAppointments, renderAppointment } from '../shared/api/appointments.ts'
import { expandPatients } from '../shared/requests/expand-patients.ts'
import { readFilteredList } from '../shared/requests/record-list.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { appointmentListStore } from '../shared/store/calendar/appointments.ts'
import { patientStore } from '../shared/store/patients/patients.ts'

export const handler = endpoint(
  listAppointments,
  { patients: patientStore, appointments: appointmentListStore },
  async ({ clinic, query, now }, { patients, appointments }) => {
    const page = await readFilteredList(
      'appointments',
      { clinic, query, now },
      appointments,
      appointmentFilter(query),
      renderAppointment,
    )
    return { ...page, data: await expandPatients(patients, { clinic, query }, page.data) }
  },
)
