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
  readonly mayReadRecord: boolean
  readonly path: { readonly id: string }
  readonly body: object
  readonly now: number
  readonly checkIfMatch: <T extends object>(current: T, response: (current: T) => { data: object }) => void
  readonly reportUnchanged: (after: object) => void
  readonly idempotency: IdempotencyGuard
}

/** Changes the appointment of a request, and returns its response. @throws ApiError when the change is rejected */
export async function changeResponse(
  { clinic, mayReadRecord, path, body, now, checkIfMatch, reportUnchanged, idempotency }: Request,
  change: (request: Omit<ChangeRequest, 'changes'>) => Promise<StoredResponse | ChangeOutcome>,
) {
  const rendered = (appointment: WithUpdatedAt<Appointment>) => ({
    data: renderAppointment(appointment, clinic),
  })
  const outcome = await change({
    id: path.id,
    moment: { timezone: clinic.timezone, clock: wallClock(now, clinic.timezone) },
    checkCurrent: (current) => {
      checkIfMatch(current, rendered)
      // If only other values were rejected, this would confirm a guess of what is stored.
      const isExternalIdOnly = Object.keys(body).every((field) => field === 'external_id')
      if (!mayReadRecord && current.status !== 'scheduled' && !isExternalIdOnly)
        throw new ApiError('appointment_closed')
    },
    idempotency,
    response: (stored) =>
      stored.kind === 'done' ? { status: 200, body: rendered(stored.appointment) } : takenResponse(stored),
  })
  if (outcome instanceof StoredResponse) return outcome
  if (outcome.kind === 'done') {
    reportUnchanged(outcome.appointment)
    return rendered(outcome.appointment)
  }
  if (outcome.kind === 'not_found') throw new ApiError('appointment_not_found')
  if (outcome.kind === 'closed') throw new ApiError('appointment_closed')
  throw isTaken(outcome) ? takenResponse(outcome).error : rejectionError(outcome)
}
