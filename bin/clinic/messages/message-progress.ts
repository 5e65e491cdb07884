import { renderMessage } from '../../../shared/api/messages.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { isMessageWaiting, isUnresolved, type Message } from '../../../shared/domain/messages/message.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import type { WithUpdatedAt } from '../../../shared/domain/with-updated-at.ts'

type Progress = 'waiting' | 'being_sent' | 'unresolved' | 'done'

/** The progress of sending a message. Imported messages are always done. */
function progressOf(message: Message, now: number): Progress {
  if (!message.dispatch) return 'done'
  if (isMessageWaiting(message)) return 'waiting'
  return isUnresolved(message, now) ? 'unresolved' : 'being_sent'
}

/** The progress as text for the operator. */
export function describeProgress(message: Message, { timezone }: Clinic, now: number): string {
  const { dueAt = 0, claim = null } = message.dispatch ?? {}
  const descriptions: Record<Progress, () => string> = {
    waiting: () => `waiting to be sent, next attempt at ${localTime(dueAt, timezone)}`,
    being_sent: () => `being sent until ${localTime(claim?.until ?? dueAt, timezone)}`,
    unresolved: () => `unresolved: claimed until ${localTime(claim?.until ?? dueAt, timezone)}`,
    done: () => `done: ${message.status}`,
  }
  return descriptions[progressOf(message, now)]()
}

/** An instant (milliseconds since the epoch) as a timestamp in the clinic's time zone. */
export const localTime = (at: number, timezone: string): string =>
  clinicTimestamp(new Date(at).toISOString(), timezone)

/** A message as commands print it, without its subject and text. */
export function messageJson(message: WithUpdatedAt<Message>, clinic: Clinic, now: number) {
  const { subject: _subject, message: _text, ...entry } = renderMessage(message, clinic)
  const { dispatch } = message
  const at = (instant: number) => localTime(instant, clinic.timezone)
  return {
    clinic_id: clinic.id,
    ...entry,
    progress: progressOf(message, now),
    dispatch: dispatch && {
      due_at: at(dispatch.dueAt),
      claimed_until: dispatch.claim && at(dispatch.claim.until),
    },
  }
}
