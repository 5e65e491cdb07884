/** Every change of a record produces a payload that fits the document. */
import { expect, it } from 'vitest'
import { EVENT_PAYLOADS, Event } from '../../../shared/api/events.ts'
import { APPOINTMENT_STATUSES } from '../../../shared/domain/booking/appointment.ts'
import { NEW_DOCTOR } from '../../../shared/domain/booking/doctor.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { CHANNELS, MESSAGE_STATUSES, type Message } from '../../../shared/domain/messages/message.ts'
import { INVOICE_STATUSES, type Invoice } from '../../../shared/domain/money/invoice.ts'
import { PAYMENT_STATUSES, type Payment } from '../../../shared/domain/money/payment.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import {
  appointmentEventDraft,
  CLINIC_PARTS,
  clinicEventDraft,
  doctorEventDraft,
  EVENTS,
  type EventDraft,
  type EventName,
  eventPayload,
  importEventDraft,
  invoiceEventDraft,
  messageEventDraft,
  PING,
  patientEventDraft,
  paymentEventDraft,
  treatmentEventDraft,
} from '../../../shared/domain/webhooks/event.ts'
import { aTreatment } from '../../support/catalogue.ts'
import { document, resolveRef, schemaError } from '../../support/document-conformance.ts'
import { anAppointment } from '../../support/sample-records.ts'
import { aPatient } from '../../support/table.ts'

const CLINIC = { id: newUuid() as ClinicId, timezone: 'Asia/Kathmandu' }
const at = '2026-05-01T07:00:00.000Z'
const patient = aPatient()
const named = { id: patient.id, fullName: 'Ada Kaya' }
const appointment = anAppointment({ id: newUuid(), patient: named, doctor: named })
const invoice = {
  id: newUuid(),
  patient: { ...named, email: null },
  status: 'sent',
  issueDate: '2026-05-04',
  dueDate: '2026-05-18',
  appointmentId: null,
  doctor: named,
} as Invoice
const payment = { id: newUuid(), invoice: named, patient: named, date: '2026-05-04' } as unknown as Payment
const doctor = { ...NEW_DOCTOR, id: newUuid(), fullName: 'Dr. Bo Lind' }
const message = { id: newUuid(), patient: named, status: 'queued' } as Message

/** Drafts of every way to create and change a record. */
const drafts: (EventDraft | null)[] = [
  patientEventDraft(null, patient),
  patientEventDraft(patient, { ...patient, firstName: 'Bo' }),
  patientEventDraft(patient, { ...patient, erasedAt: at }),
  appointmentEventDraft(appointment, { ...appointment, notes: 'x' }),
  appointmentEventDraft(appointment, { ...appointment, confirmedAt: at }),
  appointmentEventDraft(appointment, { ...appointment, checkedInAt: at }),
  ...APPOINTMENT_STATUSES.flatMap((status) => [
    appointmentEventDraft(null, { ...appointment, status }),
    appointmentEventDraft(appointment, { ...appointment, status }),
    appointmentEventDraft({ ...appointment, status: 'completed' }, { ...appointment, status, notes: 'x' }),
  ]),
  ...INVOICE_STATUSES.flatMap((status) => [
    invoiceEventDraft(null, { ...invoice, status, dueDate: null }),
    invoiceEventDraft(invoice, { ...invoice, status, paidAt: at }),
    invoiceEventDraft({ ...invoice, status: 'paid' }, { ...invoice, status, paidAt: at }),
  ]),
  ...PAYMENT_STATUSES.flatMap((status) => [
    paymentEventDraft(null, { ...payment, status }),
    paymentEventDraft(payment, { ...payment, status, voidedAt: at }),
  ]),
  doctorEventDraft(null, doctor),
  doctorEventDraft(doctor, { ...doctor, isActive: false }),
  treatmentEventDraft(null, aTreatment()),
  treatmentEventDraft(aTreatment(), { ...aTreatment(), isActive: false }),
  ...CLINIC_PARTS.map(clinicEventDraft),
  importEventDraft('patients', { imported: 2, updated: 0 }),
  ...CHANNELS.flatMap((channel) =>
    MESSAGE_STATUSES.map((status) =>
      messageEventDraft({ ...message, channel }, { ...message, channel, status }),
    ),
  ),
]

const schemaOf = (event: EventName) => {
  const { requestBody } = document.webhooks[event]?.post ?? {}
  return requestBody?.content?.['application/json']?.schema ?? {}
}

const payload = (event: EventName, data: EventDraft['data']) =>
  eventPayload({ id: newUuid(), event, record: newUuid(), sequence: 1, data, createdAt: at }, CLINIC)

it('every event payload fits its schema in the contract and in the document', () => {
  const seen = new Set<EventName>()
  for (const draft of drafts) {
    if (!draft) continue
    seen.add(draft.event)
    const sent = payload(draft.event, draft.data)
    expect(EVENT_PAYLOADS[draft.event].safeParse(sent).error).toBeUndefined()
    expect(Event.safeParse(sent).error).toBeUndefined()
    expect(schemaError(schemaOf(draft.event), sent)).toBeNull()
  }
  expect([...seen].sort()).toEqual([...EVENTS].sort())
})

it('a ping fits its schema, and is not an event of a record', () => {
  const ping = payload(PING, { id: newUuid() })
  expect(schemaError(schemaOf(PING), ping)).toBeNull()
  expect(Event.safeParse(ping).success).toBe(false)
})

it('rejects an event with an extra field, a missing field or another status', () => {
  const { data, event } = appointmentEventDraft(appointment, {
    ...appointment,
    status: 'cancelled',
  }) as EventDraft
  const { doctor_id: _, ...less } = data
  for (const wrong of [{ ...data, notes: 'x' }, less, { ...data, status: 'completed' }, {}])
    expect(schemaError(schemaOf(event), payload(event, wrong))).not.toBeNull()
})

it('documents the Standard Webhooks headers for every event', () => {
  for (const { post } of Object.values(document.webhooks)) {
    const names = post.parameters.map(resolveRef).map(({ name }) => name)
    expect(names).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    expect(post.security).toEqual([])
  }
})
