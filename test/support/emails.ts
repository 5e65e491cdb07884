import type { Clinic } from '../../shared/domain/clinic.ts'
import type { Message } from '../../shared/domain/messages/message.ts'
import { fullName, type Patient } from '../../shared/domain/patients/patient.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { dueMessageKey } from '../../shared/store/keys/messages.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { anEmail } from './sample-records.ts'

/** Stores an email that was accepted at `now` and waits to be sent. */
export async function createAcceptedEmail(
  table: Table,
  clinic: Clinic,
  patient: Patient,
  now: number,
  facts: Partial<Message> = {},
): Promise<Message> {
  const message = anEmail({
    id: newUuid(),
    recipient: patient.emailAddress ?? 'unknown@example.com',
    text: 'See you soon',
    patient: { id: patient.id, fullName: fullName(patient) },
    acceptedAt: new Date(now).toISOString(),
    acceptedOn: new Date(now).toISOString().slice(0, 10),
    dispatch: { dueAt: now + 120_000, claim: null, isUnresolved: false },
    ...facts,
  })
  const changes = new Changeset(table, clinic.id)
  messageStore({ table }).change(changes, null, message)
  if (message.dispatch)
    changes.put(dueMessageKey({ clinic: clinic.id, id: message.id, at: message.dispatch.dueAt }))
  await changes.commit()
  return message
}
