/** Holds: time that nobody else can book until it expires, for a patient who fills in a form or pays. */

import type { Appointment } from './appointment.ts'
import {
  type Moment,
  type Placement,
  type PlacementFacts,
  type PlacementRejection,
  placedFields,
  placementRejection,
} from './placement.ts'

/** How long a hold lasts, in seconds. */
export const MIN_HOLD_SECONDS = 60
export const MAX_HOLD_SECONDS = 1800
export const DEFAULT_HOLD_SECONDS = 600

/** Holds of one credential that have not expired. */
export const MAX_HOLDS = 200

export type Hold = Pick<
  Appointment,
  'id' | 'doctor' | 'date' | 'startTime' | 'endTime' | 'room' | 'createdAt'
> & {
  /** The credential that made it. No other one sees it. */
  readonly credential: string
  /** ISO 8601 instant in UTC, of a whole second. */
  readonly expiresAt: string
}

/** A request for a hold, the same at every attempt to make it. */
export type HoldRequest = Placement & Moment & Pick<Hold, 'id' | 'credential' | 'expiresAt' | 'createdAt'>

export type HoldVerdict = { readonly kind: 'held'; readonly hold: Hold } | PlacementRejection

/** Decides on a hold as on a booking, without a patient. */
export function holdTime(request: HoldRequest, facts: PlacementFacts): HoldVerdict {
  const { doctor } = facts
  if (!doctor) return { kind: 'doctor_not_found' }
  const rejection = placementRejection(request, facts, request)
  if (rejection) return rejection
  const { id, credential, expiresAt, createdAt } = request
  return {
    kind: 'held',
    hold: { id, credential, ...placedFields(request, { ...facts, doctor }), expiresAt, createdAt },
  }
}

/** When a hold that is made now expires. */
export const expiryOf = (seconds: number, now: number): string =>
  new Date((Math.floor(now / 1000) + seconds) * 1000).toISOString()
