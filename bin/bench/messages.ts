import type { Message } from '../../shared/domain/messages/message.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { messageAcceptance } from '../../shared/store/messages/acceptance.ts'
import { messageDispatch } from '../../shared/store/messages/dispatch.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { WRITE_UNITS } from './bounds.ts'
import type { MeteredTable } from './meter.ts'
import { createClinic, createdAt, newPatient, newWrite, referenceTo } from './records.ts'

const PHONE = '+905321234567'
const DATE = createdAt.slice(0, 10)

/** Measures the table cost of one SMS, from acceptance to its result. */
export async function measureMessages(unmeasured: Table, { table, add }: MeteredTable): Promise<void> {
  const clinic = await createClinic(unmeasured)
  const patient = newPatient({ phoneNumber: PHONE })
  await patientWriter({ table: unmeasured }).createMany(clinic, [patient])
  const message: Message = {
    id: newUuid(),
    channel: 'sms',
    type: 'manual',
    recipient: PHONE,
    subject: null,
    text: 'Your appointment is tomorrow at ten.',
    status: 'queued',
    providerMessageId: null,
    errorMessage: null,
    sentAt: null,
    patient: referenceTo(patient),
    acceptedAt: createdAt,
    acceptedOn: DATE,
    dispatch: { dueAt: 1, claim: { token: newUuid(), until: 1 }, isUnresolved: false },
  }
  const draft = { id: message.id, patient: patient.id, channel: 'sms', date: DATE } as const
  const acceptBound = { units: WRITE_UNITS.message + 4, roundTrips: 2 }
  const sentBound = { units: WRITE_UNITS.message - 3, roundTrips: 2 }
  await add('accept an SMS, with an idempotency key (read and write units)', acceptBound, () =>
    messageAcceptance({ table }).accept(
      clinic,
      draft,
      () => ({ kind: 'accepted', message, dailyLimit: 1000, recipientLimit: 10 }),
      newWrite(table, clinic, () => ({ data: message })),
    ),
  )
  await add('record that it was sent (read and write units)', sentBound, () =>
    messageDispatch({ table }).recordFeedback(clinic, message.id, {
      kind: 'sent',
      at: createdAt,
      providerMessageId: newUuid(),
    }),
  )
}
