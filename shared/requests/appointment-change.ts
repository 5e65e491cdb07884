import { renderAppointment } from '../api/appointments.ts'
import { rejectionError, takenResponse } from '../api/bookings.ts'
import { ApiError } from '../api/errors.ts'
import type { Appointment } from '../domain/booking/appointment.ts'
import type { ClinicInfo } from '../domain/clinic.ts'
import { wallClock } from '../domain/clock.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import type { ChangeOutcome, ChangeRequest } from '../store/calendar/appointment-changes.ts'
import { isTaken } from '../store/calendar/booking.ts'
import { type IdempotencyGuard, StoredResponse } from '../store/table/idempotency.ts'

type Request = {
  readonly clinic: ClinicInfo
  readonly path: { readonly id: string }
  readonly now: number
  readonly setUnchanged: () => void
  readonly checkIfMatch: (current: { readonly data: object }) => void
  readonly idempotency: IdempotencyGuard
}

/** Changes the appointment of a request, and returns its response. @throws ApiError when the change is rejected */
export async function changeResponse(
  { clinic, path, now, checkIfMatch, setUnchanged, idempotency }: Request,
  change: (request: Omit<ChangeRequest, 'changes'>) => Promise<StoredResponse | ChangeOutcome>,
) {
  const rendered = (appointment: WithUpdatedAt<Appointment>) => ({
    data: renderAppointment(appointment, clinic),
  })
  let before: Appointment | undefined
  const outcome = await change({
    id: path.id,
    moment: { timezone: clinic.timezone, clock: wallClock(now, clinic.timezone) },
    checkCurrent: (current) => {
      before = current
      checkIfMatch(rendered(current))
    },
    idempotency,
    response: (stored) =>
      stored.kind === 'done' ? { status: 200, body: rendered(stored.appointment) } : takenResponse(stored),
  })
  if (outcome instanceof StoredResponse) return outcome
  if (outcome.kind === 'done' && outcome.appointment === before) setUnchanged()
  if (outcome.kind === 'done') return rendered(outcome.appointment)
  if (outcome.kind === 'not_found') throw new ApiError('appointment_not_found')
  if (outcome.kind === 'closed') throw new ApiError('appointment_closed')
  throw isTaken(outcome) ? takenResponse(outcome).error : rejectionError(outcome)
}
