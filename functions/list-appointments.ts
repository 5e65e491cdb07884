import { appointmentFilter, listAppointments, renderAppointment } from '../shared/api/appointments.ts'
import { readFilteredList } from '../shared/requests/record-list.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { appointmentStore } from '../shared/store/calendar/appointments.ts'

export const handler = endpoint(
  listAppointments,
  { appointments: appointmentStore },
  async ({ clinic, query, now }, { appointments }) => {
    return readFilteredList(
      'appointments',
      { clinic, query, now },
      appointments,
      appointmentFilter(query),
      renderAppointment,
    )
  },
)
