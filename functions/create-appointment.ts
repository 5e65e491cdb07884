import { renderAppointment } from '../shared/api/appointments.ts'
import { createAppointment, rejectionError, takenError } from '../shared/api/bookings.ts'
import { unknownIds } from '../shared/api/errors.ts'
import {
  type BookingFacts,
  type BookingRequest,
  bookAppointment,
} from '../shared/domain/booking/book-appointment.ts'
import { requestedMinutes } from '../shared/domain/booking/change-appointment.ts'
import { wallClock } from '../shared/domain/clock.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { bookingStore, isTaken, type StoredOutcome } from '../shared/store/calendar/booking.ts'

export const handler = endpoint(
  createAppointment,
  { booking: bookingStore },
  async ({ clinicId, clinic, body, now, newId, write }, { booking }) => {
    const { treatment_ids: treatments = [] } = body
    const sent = requestedMinutes(body.start_time, { minutes: body.duration, endTime: body.end_time })
    const request: BookingRequest = {
      id: newId(),
      patient: body.patient_id,
      doctor: body.doctor_id,
      date: body.appointment_date,
      startTime: body.start_time,
      minutes: sent ?? (treatments.length > 0 ? null : await booking.defaultDuration(clinicId)),
      treatments,
      room: body.room_id ?? null,
      notes: body.notes ?? null,
      externalId: body.external_id ?? null,
      timezone: clinic.timezone,
      clock: wallClock(now, clinic.timezone),
      createdAt: new Date(now).toISOString(),
    }
    const decide = (facts: BookingFacts) => bookAppointment(request, facts)
    // A taken slot is stored too: a repetition of the request gets the same 409, even when the slot is free again.
    const response = (stored: StoredOutcome) =>
      isTaken(stored) ? takenError(stored) : { data: renderAppointment(stored.appointment, clinic) }
    const outcome = await booking.book(clinicId, request, decide, write(response))
    if (outcome.kind === 'booked') return { data: renderAppointment(outcome.appointment, clinic) }
    if (outcome.kind === 'patient_not_found') throw unknownIds('patient_not_found', 'patient_id')
    throw isTaken(outcome) ? takenError(outcome) : rejectionError(outcome)
  },
)
