import { renderAppointment } from '../shared/api/appointments.ts'
import { rejectionError, takenResponse, updateAppointment } from '../shared/api/bookings.ts'
import { ApiError } from '../shared/api/errors.ts'
import type { Appointment } from '../shared/domain/booking/appointment.ts'
import { wallClock } from '../shared/domain/clock.ts'
import type { WithUpdatedAt } from '../shared/domain/with-updated-at.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { appointmentChangeStore } from '../shared/store/calendar/appointment-changes.ts'
import { isTaken } from '../shared/store/calendar/booking.ts'
import { StoredResponse } from '../shared/store/table/idempotency.ts'

export const handler = endpoint(
  updateAppointment,
  { appointments: appointmentChangeStore },
  async ({ clinicId, clinic, path, body, now, checkIfMatch, idempotency }, { appointments }) => {
    const rendered = (appointment: WithUpdatedAt<Appointment>) => ({
      data: renderAppointment(appointment, clinic),
    })
    const outcome = await appointments.change(clinicId, {
      id: path.id,
      changes: {
        doctor: body.doctor_id,
        date: body.appointment_date,
        startTime: body.start_time,
        minutes: body.duration,
        endTime: body.end_time,
        treatments: body.treatment_ids,
        room: body.room_id,
        notes: body.notes,
      },
      moment: { timezone: clinic.timezone, clock: wallClock(now, clinic.timezone) },
      checkCurrent: (current) => checkIfMatch(rendered(current)),
      idempotency,
      response: (stored) =>
        stored.kind === 'done' ? { status: 200, body: rendered(stored.appointment) } : takenResponse(stored),
    })
    if (outcome instanceof StoredResponse) return outcome
    if (outcome.kind === 'done') return rendered(outcome.appointment)
    if (outcome.kind === 'not_found') throw new ApiError('appointment_not_found')
    if (outcome.kind === 'closed') throw new ApiError('appointment_closed')
    throw isTaken(outcome) ? takenResponse(outcome).error : rejectionError(outcome)
  },
)
