import { renderAppointment } from '../api/appointments.ts'
import { rejectionError, takenError } from '../api/bookings.ts'
import { ApiError } from '../api/errors.ts'
import type { Appointment } from '../domain/booking/appointment.ts'
import { wallClock } from '../domain/clock.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import type { ChangeOutcome, ChangeRequest, StoredChange } from '../store/calendar/appointment-changes.ts'
import { isTaken } from '../store/calendar/booking.ts'
import type { WriteRequest } from './requested-write.ts'

type Request = Omit<WriteRequest, 'credential' | 'clinicId'> & { readonly body: object }

/** Changes the appointment of a request, and returns its response. @throws ApiError when the change is rejected */
export async function changeResponse(
  { clinic, mayReadRecord, path, body, now, write }: Request,
  change: (request: Omit<ChangeRequest, 'changes'>) => Promise<ChangeOutcome>,
) {
  const done = (appointment: WithUpdatedAt<Appointment>) => ({ data: renderAppointment(appointment, clinic) })
  const response = (outcome: StoredChange) =>
    outcome.kind === 'done' ? done(outcome.appointment) : takenError(outcome)
  const outcome = await change({
    id: path.id,
    moment: { timezone: clinic.timezone, clock: wallClock(now, clinic.timezone) },
    checkCurrent: ({ status }) => {
      // If only other values were rejected, this would confirm a guess of what is stored.
      const isExternalIdOnly = Object.keys(body).every((field) => field === 'external_id')
      if (!mayReadRecord && status !== 'scheduled' && !isExternalIdOnly)
        throw new ApiError('appointment_closed')
    },
    write: write(response),
  })
  if (outcome.kind === 'done') return done(outcome.appointment)
  if (outcome.kind === 'not_found') throw new ApiError('appointment_not_found')
  if (outcome.kind === 'closed') throw new ApiError('appointment_closed')
  throw isTaken(outcome) ? takenError(outcome) : rejectionError(outcome)
}
