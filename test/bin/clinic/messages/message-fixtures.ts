/** Messages in every state, put into the log as if their senders had got so far. */
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { asUnresolved, type Dispatch, type Message } from '../../../../shared/domain/messages/message.ts'
import { clinicTimestamp } from '../../../../shared/domain/timestamp.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { dueMessageKey, unresolvedMessageKey } from '../../../../shared/store/keys/messages.ts'
import { messageStore } from '../../../../shared/store/messages/messages.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { anEmail } from '../../../support/sample-records.ts'

export const MINUTE = 60_000
export const LOST_REPLY = 'The provider’s reply was lost'

/** Due in an hour: no sweep looks at it while a test runs. */
export const waitingDispatch = (): Dispatch => ({
  dueAt: Date.now() + 60 * MINUTE,
  claim: null,
  isUnresolved: false,
})
export const claimedDispatch = (until: number, dueAt = Date.now() + 60 * MINUTE): Dispatch => ({
  dueAt,
  claim: { token: newUuid(), until },
  isUnresolved: false,
})

/** An email, accepted just now unless `facts` say otherwise; `unresolved` after its sweep. */
export async function storeMessage(
  table: Table,
  clinic: Clinic,
  { isUnresolved = false, ...facts }: Partial<Message> & { isUnresolved?: boolean },
): Promise<Message> {
  const acceptedAt = facts.acceptedAt ?? new Date().toISOString()
  const base = anEmail({
    id: newUuid(),
    subject: 'SECRET subject',
    text: 'SECRET text\nof two lines',
    patient: { id: newUuid(), fullName: 'Ada Lang' },
    acceptedAt,
    acceptedOn: clinicTimestamp(acceptedAt, clinic.timezone).slice(0, 10),
    ...facts,
  })
  const message = isUnresolved ? asUnresolved(base, LOST_REPLY) : base
  const changes = new Changeset(table, clinic.id)
  messageStore({ table }).change(changes, null, message)
  if (message.dispatch) {
    const due = { clinic: clinic.id, id: message.id, at: message.dispatch.dueAt }
    changes.put(isUnresolved ? unresolvedMessageKey(due) : dueMessageKey(due), 'new')
  }
  await changes.commit()
  return message
}
