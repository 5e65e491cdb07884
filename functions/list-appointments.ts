import { listAppointments, renderAppointment } from '../shared/api/appointments.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { readFilteredList } from '../shared/runtime/record-list.ts'
import { appointmentStore } from '../shared/store/calendar/appointments.ts'

export const handler = endpoint(
  listAppointments,
  { appointments: appointmentStore },
  async ({ clinic, query, now }, { appointments }) => {
    const { patient_id: patient, doctor_id: doctor, status, date_from: from, date_to: to } = query
    const filter = { patient, doctor, facet: status, from, to }
    return readFilteredList('appointments', { clinic, query, now }, appointments, filter, renderAppointment)
  },
)
