import { renderAppointment } from '../shared/api/appointments.ts'
import {
  createAppointment,
  rejectionError,
  requestedPlacement,
  takenError,
  withHeldTime,
} from '../shared/api/bookings.ts'
import { ApiError, unknownIds } from '../shared/api/errors.ts'
import {
  type BookingFacts,
  type BookingRequest,
  bookAppointment,
} from '../shared/domain/booking/book-appointment.ts'
import { wallClock } from '../shared/domain/clock.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { bookingStore, isTaken, type StoredOutcome } from '../shared/store/calendar/booking.ts'
import { holdStore } from '../shared/store/calendar/holds.ts'

export const handler = endpoint(
  createAppointment,
  { booking: bookingStore, holds: holdStore },
  async ({ clinicId, clinic, credential, body, now, newId, write }, { booking, holds }) => {
    const { hold_id: hold, external_id: externalId = null } = body
    // A taken slot is stored too: a repetition of the request gets the same 409, even when the slot is free again.
    const response = (stored: StoredOutcome) =>
      isTaken(stored) ? takenError(stored) : { data: renderAppointment(stored.appointment, clinic) }
    const requested = write(response)
    const heldTime = async (id: string) => {
      const found = await holds.find(clinicId, credential.key, id)
      if (found) return withHeldTime(body, found)
      // A repeated request may have ended the hold itself: report the external id.
      if (externalId !== null) await booking.requireFreeExternalId(clinicId, externalId)
      throw unknownIds('hold_not_found', 'hold_id')
    }
    const time = hold === undefined ? body : await heldTime(hold)
    const request: BookingRequest = {
      id: newId(),
      patient: body.patient_id,
      ...(await requestedPlacement(time, () => booking.defaultDuration(clinicId))),
      notes: body.notes ?? null,
      externalId,
      hold,
      timezone: clinic.timezone,
      clock: wallClock(now, clinic.timezone),
      createdAt: new Date(now).toISOString(),
    }
    const decide = (facts: BookingFacts) => bookAppointment(request, facts)
    const outcome = await booking.book(clinicId, request, decide, requested)
    if (outcome.kind === 'booked') return { data: renderAppointment(outcome.appointment, clinic) }
    if (outcome.kind === 'patient_not_found') throw unknownIds('patient_not_found', 'patient_id')
    if (outcome.kind === 'hold_expired') throw new ApiError('hold_expired')
    throw isTaken(outcome) ? takenError(outcome) : rejectionError(outcome)
  },
)
