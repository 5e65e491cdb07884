import { renderMessage } from '../../shared/api/messages.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { isUnresolved, isWaiting, type Message } from '../../shared/domain/message.ts'
import { clinicTimestamp } from '../../shared/domain/timestamp.ts'

type Progress = 'waiting' | 'being_sent' | 'unresolved' | 'done'

/** How far this service is with a message. What others sent was never its own: it is done. */
function progressOf(message: Message, now: number): Progress {
  if (!message.dispatch) return 'done'
  if (isWaiting(message)) return 'waiting'
  return isUnresolved(message, now) ? 'unresolved' : 'being_sent'
}

/** The same for a person, after the name of the message. */
export function describeProgress(message: Message, { timezone }: Clinic, now: number): string {
  const { dueAt = 0, claim = null } = message.dispatch ?? {}
  const descriptions: Record<Progress, () => string> = {
    waiting: () => `waiting to be sent, and looked after at ${localTime(dueAt, timezone)}`,
    being_sent: () => `being sent until ${localTime(claim?.until ?? dueAt, timezone)}`,
    unresolved: () => `unresolved: claimed until ${localTime(claim?.until ?? dueAt, timezone)}`,
    done: () => `done: ${message.status}`,
  }
  return descriptions[progressOf(message, now)]()
}

/** Milliseconds since the epoch as the clinic's clocks show them. */
export const localTime = (at: number, timezone: string): string =>
  clinicTimestamp(new Date(at).toISOString(), timezone)

/** An entry of the log as the operator sees it: without what it says. */
export function messageJson(message: Message, clinic: Clinic, now: number) {
  const { subject: _subject, message: _text, ...entry } = renderMessage(message, clinic)
  const { dispatch } = message
  const at = (instant: number) => localTime(instant, clinic.timezone)
  return {
    clinic_id: clinic.id,
    ...entry,
    accepted_at: clinicTimestamp(message.acceptedAt, clinic.timezone),
    progress: progressOf(message, now),
    dispatch: dispatch && {
      due_at: at(dispatch.dueAt),
      claimed_until: dispatch.claim && at(dispatch.claim.until),
    },
  }
}
