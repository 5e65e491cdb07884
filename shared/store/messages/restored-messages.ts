import type { ClinicId } from '../../domain/clinic.ts'
import { asUnresolved, isMessageWaiting, type Message } from '../../domain/messages/message.ts'
import { fullName } from '../../domain/patients/patient.ts'
import { patientKey } from '../keys/patients.ts'
import { patientStore } from '../patients/patients.ts'
import { Changeset } from '../table/changeset.ts'
import { commitWithRetry } from '../table/commit-packed.ts'
import { type Table, withoutEvents } from '../table/table.ts'
import { isSameRecord } from '../table/updated-at-codec.ts'
import { addKeyChanges } from './dispatch.ts'
import { dueMessages } from './due-messages.ts'
import { messageStore } from './messages.ts'

/** The outcome for a message of the source: `patient_unknown` if its patient was created after the restored time. */
export type TakenOver = 'unchanged' | 'updated' | 'added' | 'patient_unknown'

/** The messages of a restored table, some of which were sent since. No change of them is an event. */
export function restoredMessages(platform: { table: Table }) {
  const table = withoutEvents(platform.table)
  const messages = messageStore({ table })
  const patients = patientStore({ table })

  /**
   * Sets the outcome and the dispatch of a message to what the table in use until the restore has. One that was accepted after
   * the restored time is added.
   */
  async function takeOver(clinic: ClinicId, actual: Message): Promise<TakenOver> {
    let result: TakenOver = 'unchanged'
    await commitWithRetry(async () => {
      const [before, patient] = await Promise.all([
        messages.find(clinic, actual.id),
        patients.find(clinic, actual.patient.id),
      ])
      if (!patient) {
        result = 'patient_unknown'
        return null
      }
      const after: Message = before
        ? { ...before.record, ...outcomeOf(actual) }
        : { ...actual, patient: { id: patient.id, fullName: fullName(patient) } }
      if (before && isSameRecord(before.record, after)) return null
      const changes = new Changeset(table, clinic)
      messages.change(changes, before, after)
      changes.requireVersion(patientKey(clinic, patient.id), patient.version)
      addKeyChanges(changes, before?.record ?? { ...after, dispatch: null, providerMessageId: null }, after)
      result = before ? 'updated' : 'added'
      return changes
    })
    return result
  }

  /** Leaves a message that has no outcome to a person. Returns false if it had one, or was left to a person before. */
  async function hold(clinic: ClinicId, id: string, { reason, token, now }: MessageHold): Promise<boolean> {
    let isHeld = false
    await commitWithRetry(async () => {
      const before = await messages.find(clinic, id)
      isHeld = false
      if (!before?.record.dispatch || before.record.dispatch.isUnresolved) return null
      const { record } = before
      const claim = isMessageWaiting(record) ? { token, until: now } : before.record.dispatch.claim
      const after = asUnresolved({ ...record, dispatch: { ...before.record.dispatch, claim } }, reason)
      const changes = new Changeset(table, clinic)
      messages.change(changes, before, after)
      addKeyChanges(changes, record, after)
      isHeld = true
      return changes
    })
    return isHeld
  }

  return { takeOver, hold, find: messages.find, dueBatches: dueMessages({ table }).dueBatches }
}

type MessageHold = {
  readonly reason: string
  /** The token of the claim by which no other process takes the message. */
  readonly token: string
  /** Milliseconds since the epoch. */
  readonly now: number
}

const outcomeOf = ({ status, providerMessageId, errorMessage, sentAt, dispatch }: Message) => ({
  status,
  providerMessageId,
  errorMessage,
  sentAt,
  dispatch,
})
