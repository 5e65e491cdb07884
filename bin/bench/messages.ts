import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import type { Message } from '../../shared/domain/messages/message.ts'
import { NO_DETAILS } from '../../shared/domain/patients/patient.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { messageAcceptance } from '../../shared/store/messages/acceptance.ts'
import { messageDispatch } from '../../shared/store/messages/dispatch.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { idempotencyGuard } from '../../shared/store/table/idempotency.ts'
import { openTable } from '../../shared/store/table/table.ts'
import { WRITE_UNITS } from './bounds.ts'
import { type Measurement, meter } from './meter.ts'

/** Measures the table cost of one SMS, from acceptance to its result. */
export async function measureMessages(
  buildClient: DynamoDBDocumentClient,
  measuredClient: DynamoDBDocumentClient,
  tableName: string,
): Promise<Measurement[]> {
  const clinic = newUuid() as ClinicId
  const [unmeasured, table] = [openTable(buildClient, tableName), openTable(measuredClient, tableName)]
  const createdAt = '2026-05-04T07:00:00.000Z'
  const facts = { name: 'Bench', timezone: 'Europe/Istanbul', currency: 'TRY', appointmentMinutes: 30 }
  await clinicStore({ table: unmeasured }).create({ id: clinic, ...facts, createdAt })
  const patient = {
    id: newUuid(),
    firstName: 'Ada',
    lastName: 'Kaya',
    ...NO_DETAILS,
    phoneNumber: '+905321234567',
    createdAt,
  }
  await patientWriter({ table: unmeasured }).createMany(clinic, [patient])
  const message: Message = {
    id: newUuid(),
    channel: 'sms',
    type: 'manual',
    recipient: patient.phoneNumber,
    subject: null,
    text: 'Your appointment is tomorrow at ten.',
    status: 'queued',
    providerMessageId: null,
    errorMessage: null,
    sentAt: null,
    patient: { id: patient.id, fullName: 'Ada Kaya' },
    acceptedAt: createdAt,
    acceptedOn: '2026-05-04',
    dispatch: { dueAt: 1, claim: { token: newUuid(), until: 1 }, isUnresolved: false },
  }
  const request = { clinic, credential: 'ck_bench', route: 'send-message', key: 'key', body: '{}' }
  const measure = meter(measuredClient)
  const measurements: Measurement[] = []
  const add = async (label: string, units: number, roundTrips: number, work: () => Promise<unknown>) => {
    measurements.push({ label, bound: { units, roundTrips }, ...(await measure(work)) })
  }
  const draft = { id: message.id, patient: patient.id, channel: 'sms', date: '2026-05-04' } as const
  await add('accept an SMS, with an idempotency key (read and write units)', WRITE_UNITS.message + 4, 2, () =>
    messageAcceptance({ table }).accept(
      clinic,
      draft,
      () => ({ kind: 'accepted', message, dailyLimit: 1000, recipientLimit: 10 }),
      {
        idempotency: idempotencyGuard({ table, now: Date.now }, request),
        status: 202,
        response: () => ({ data: message }),
      },
    ),
  )
  await add('record that it was sent (read and write units)', WRITE_UNITS.message - 3, 2, () =>
    messageDispatch({ table }).recordFeedback(clinic, message.id, {
      kind: 'sent',
      at: createdAt,
      providerMessageId: newUuid(),
    }),
  )
  return measurements
}
