import { reopenAppointment } from '../shared/api/appointment-actions.ts'
import { changeResponse } from '../shared/requests/appointment-change.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { appointmentChangeStore } from '../shared/store/calendar/appointment-changes.ts'

export const handler = endpoint(
  reopenAppointment,
  { appointments: appointmentChangeStore },
  (request, { appointments }) =>
    changeResponse(request, (change) => appointments.reopen(request.clinicId, change)),
)
