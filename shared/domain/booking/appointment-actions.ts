/** Actions on a scheduled appointment, apart from moving it. */

import { instantOf, type WallClock } from '../clock.ts'
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
  /** The action is only possible from an instant on. */
  | { readonly kind: 'not_due'; readonly from: string }

/** The same for an action that is possible at any time. */
type AnytimeVerdict = Exclude<ActionVerdict, { kind: 'not_due' }>

/** When an action is applied: an instant, and the clinic's zone. */
export type ActionTime = { readonly at: string; readonly timezone: string }

/**
 * Applies an action. An action that was applied before changes nothing: the first instant and reason stay. Only the action
 * that closed an appointment can be repeated on it.
 */
export function applyAction(
  appointment: Appointment,
  action: AppointmentAction,
  { at, timezone }: ActionTime,
): ActionVerdict {
  const verdict = applyAnytime(appointment, action, at)
  if (verdict.kind !== 'done' || verdict.appointment === appointment) return verdict
  const from = possibleFrom(appointment, action, timezone)
  return from !== null && at < from ? { kind: 'not_due', from } : verdict
}

/** The instant before which an action says what has not happened yet; null if it is possible at any time. */
export function possibleFrom(
  { date, startTime }: Appointment,
  { kind }: Pick<AppointmentAction, 'kind'>,
  timezone: string,
): string | null {
  if (kind === 'check_in' || kind === 'complete') return instantOf(date, timezone)
  return kind === 'no_show' ? instantOf(date, timezone, startTime) : null
}

function applyAnytime(appointment: Appointment, action: AppointmentAction, at: string): AnytimeVerdict {
  switch (action.kind) {
    case 'confirm':
      return recordOnce(appointment, 'confirmedAt', at)
    case 'check_in':
      return recordOnce(appointment, 'checkedInAt', at)
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
): AnytimeVerdict {
  if (appointment.status === status) return { kind: 'done', appointment }
  if (!canTransition(appointment.status, status)) return { kind: 'closed' }
  const cancellation = status === 'cancelled' ? { cancelledAt: at, cancellationReason: reason } : {}
  return { kind: 'done', appointment: { ...appointment, status, ...cancellation } }
}

function recordOnce(
  appointment: Appointment,
  field: 'confirmedAt' | 'checkedInAt',
  at: string,
): AnytimeVerdict {
  if (appointment.status !== 'scheduled') return { kind: 'closed' }
  return {
    kind: 'done',
    appointment: appointment[field] === null ? { ...appointment, [field]: at } : appointment,
  }
}
