import { createAppointment, renderAlternative, renderAppointment } from '../shared/api/appointments.ts'
import type { ErrorKey } from '../shared/api/error-catalogue.ts'
import { ApiError, errorBody } from '../shared/api/errors.ts'
import { type BookingFacts, type BookingRequest, bookAppointment } from '../shared/domain/book-appointment.ts'
import { wallClock } from '../shared/domain/clock.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { type BookingOutcome, bookingStore, type StoredOutcome } from '../shared/store/calendar/booking.ts'
import { StoredResponse } from '../shared/store/table/idempotency.ts'

const ERRORS = {
  patient_not_found: 'patient_not_found',
  doctor_not_found: 'doctor_not_found',
  patient_inactive: 'patient_inactive',
  in_past: 'appointment_in_past',
  outside_hours: 'outside_working_hours',
} as const satisfies Record<Exclude<BookingOutcome, StoredOutcome>['kind'], ErrorKey>

export const handler = endpoint(
  createAppointment,
  { booking: bookingStore },
  async ({ clinicId, clinic, body, now, newId, idempotency }, { booking }) => {
    const request: BookingRequest = {
      id: newId(),
      patient: body.patient_id,
      doctor: body.doctor_id,
      date: body.appointment_date,
      startTime: body.start_time,
      minutes: body.duration ?? (await booking.defaultDuration(clinicId)),
      notes: body.notes ?? null,
      timezone: clinic.timezone,
      clock: wallClock(now, clinic.timezone),
      createdAt: new Date(now).toISOString(),
    }
    const decide = (facts: BookingFacts) => bookAppointment(request, facts)
    // A taken slot is stored too: a repetition of the request gets the same 409, even when the slot is free again.
    const outcome = await booking.book(clinicId, request, decide, idempotency, (stored) =>
      stored.kind === 'booked'
        ? { status: 201, body: { data: renderAppointment(stored.appointment, clinic) } }
        : { status: 409, body: errorBody('slot_unavailable', stored.alternatives.map(renderAlternative)) },
    )
    if (outcome instanceof StoredResponse) return outcome
    if (outcome.kind === 'booked') return { data: renderAppointment(outcome.appointment, clinic) }
    if (outcome.kind === 'taken')
      throw new ApiError('slot_unavailable', { details: outcome.alternatives.map(renderAlternative) })
    throw new ApiError(ERRORS[outcome.kind])
  },
)
