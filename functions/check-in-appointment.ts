import { checkInAppointment } from '../shared/api/appointment-actions.ts'
import { actOnAppointment } from '../shared/requests/appointment-action.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { appointmentChangeStore } from '../shared/store/calendar/appointment-changes.ts'

export const handler = endpoint(
  checkInAppointment,
  { appointments: appointmentChangeStore },
  (request, { appointments }) => actOnAppointment(request, appointments, { kind: 'check_in' }),
)
