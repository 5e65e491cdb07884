import { updateAppointment } from '../shared/api/bookings.ts'
import { changeResponse } from '../shared/requests/appointment-change.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { appointmentChangeStore } from '../shared/store/calendar/appointment-changes.ts'

export const handler = endpoint(
  updateAppointment,
  { appointments: appointmentChangeStore },
  (request, { appointments }) => {
    const { clinicId, body } = request
    const changes = {
      doctor: body.doctor_id,
      date: body.appointment_date,
      startTime: body.start_time,
      minutes: body.duration,
      endTime: body.end_time,
      treatments: body.treatment_ids,
      room: body.room_id,
      notes: body.notes,
      externalId: body.external_id,
    }
    return changeResponse(request, (change) => appointments.change(clinicId, { ...change, changes }))
  },
)
