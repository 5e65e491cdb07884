import { rejectionError, requestedPlacement, takenError } from '../shared/api/bookings.ts'
import { ApiError } from '../shared/api/errors.ts'
import { createHold, renderHold } from '../shared/api/holds.ts'
import { DEFAULT_HOLD_SECONDS, expiryOf, type HoldRequest, holdTime } from '../shared/domain/booking/hold.ts'
import type { PlacementFacts } from '../shared/domain/booking/placement.ts'
import { wallClock } from '../shared/domain/clock.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { bookingStore, isTaken } from '../shared/store/calendar/booking.ts'
import { holdStore, type StoredHoldOutcome } from '../shared/store/calendar/holds.ts'

export const handler = endpoint(
  createHold,
  { booking: bookingStore, holds: holdStore },
  async ({ clinicId, clinic, credential, body, now, newId, write }, { booking, holds }) => {
    const request: HoldRequest = {
      id: newId(),
      credential: credential.key,
      ...(await requestedPlacement(body, () => booking.defaultDuration(clinicId))),
      timezone: clinic.timezone,
      clock: wallClock(now, clinic.timezone),
      expiresAt: expiryOf(body.expires_in ?? DEFAULT_HOLD_SECONDS, now),
      createdAt: new Date(now).toISOString(),
    }
    const decide = (facts: PlacementFacts) => holdTime(request, facts)
    const response = (stored: StoredHoldOutcome) =>
      isTaken(stored) ? takenError(stored) : { data: renderHold(stored.hold, clinic) }
    const outcome = await holds.create(clinicId, request, decide, write(response))
    if (outcome.kind === 'held') return { data: renderHold(outcome.hold, clinic) }
    if (outcome.kind === 'too_many') {
      const seconds = Math.max(1, Math.ceil(outcome.until - now / 1000))
      throw new ApiError('too_many_holds', { headers: { 'retry-after': String(seconds) } })
    }
    throw isTaken(outcome) ? takenError(outcome) : rejectionError(outcome)
  },
)
