/** Actions on a scheduled appointment, apart from moving it. */

import type { WallClock } from '../clock.ts'
import { parseTime } from '../interval.ts'
import { type Appointment, type AppointmentStatus, canTransition } from './appointment.ts'

export type AppointmentAction =
  | { readonly kind: 'confirm' }
  | { readonly kind: 'check_in' }
  | { readonly kind: 'complete' }
  | { readonly kind: 'no_show' }
  | { readonly kind: 'cancel'; readonly reason: string | null }

export type ActionVerdict =
  | { readonly kind: 'done'; readonly appointment: Appointment }
  /** The appointment has ended in another way. */
  | { readonly kind: 'closed' }

/**
 * Applies an action at an instant `at`. An action that was applied before changes nothing: the first instant and reason
 * stay. Only the action that closed an appointment can be repeated on it.
 */
export function applyAction(appointment: Appointment, action: AppointmentAction, at: string): ActionVerdict {
  switch (action.kind) {
    case 'confirm':
      return whileScheduled(appointment, { confirmedAt: appointment.confirmedAt ?? at })
    case 'check_in':
      return whileScheduled(appointment, { checkedInAt: appointment.checkedInAt ?? at })
    case 'complete':
      return closeAs(appointment, 'completed', { at })
    case 'no_show':
      return closeAs(appointment, 'no_show', { at })
    case 'cancel':
      return closeAs(appointment, 'cancelled', { at, reason: action.reason })
  }
}

/** Whether an appointment is scheduled and has not begun, at a time by the clinic's clock. */
export const isUpcoming = (
  { status, date, startTime }: Pick<Appointment, 'status' | 'date' | 'startTime'>,
  now: WallClock,
): boolean =>
  status === 'scheduled' &&
  (date > now.date || (date === now.date && parseTime(startTime) * 60 >= now.seconds))

/** Ends an appointment with a status at an instant `at`. Nothing changes if it already has that status. */
export function closeAs(
  appointment: Appointment,
  status: AppointmentStatus,
  { at, reason = null }: { readonly at: string; readonly reason?: string | null },
): ActionVerdict {
  if (appointment.status === status) return { kind: 'done', appointment }
  if (!canTransition(appointment.status, status)) return { kind: 'closed' }
  const cancellation = status === 'cancelled' ? { cancelledAt: at, cancellationReason: reason } : {}
  return { kind: 'done', appointment: { ...appointment, status, ...cancellation } }
}

const whileScheduled = (appointment: Appointment, changed: Partial<Appointment>): ActionVerdict =>
  appointment.status === 'scheduled'
    ? { kind: 'done', appointment: { ...appointment, ...changed } }
    : { kind: 'closed' }
