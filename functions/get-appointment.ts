import { getAppointment, renderAppointment } from '../shared/api/appointments.ts'
import { ApiError } from '../shared/api/errors.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { appointmentStore } from '../shared/store/calendar/appointments.ts'

export const handler = endpoint(
  getAppointment,
  { appointments: appointmentStore },
  async ({ clinicId, clinic, path }, { appointments }) => {
    const found = await appointments.find(clinicId, path.id)
    if (!found) throw new ApiError('appointment_not_found')
    return { data: renderAppointment(found.record, clinic) }
  },
)
