/** What happens to records is what the document says arrives. */
import { expect, it } from 'vitest'
import { EVENT_PAYLOADS, Event } from '../../../../shared/api/events.ts'
import { APPOINTMENT_STATUSES, type Appointment } from '../../../../shared/domain/appointment.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import {
  appointmentHappening,
  EVENTS,
  type EventName,
  type Happening,
  invoiceHappening,
  messageHappening,
  PING,
  patientHappening,
  payloadOf,
  paymentHappening,
} from '../../../../shared/domain/event.ts'
import { INVOICE_STATUSES, type Invoice } from '../../../../shared/domain/invoice.ts'
import { CHANNELS, MESSAGE_STATUSES, type Message } from '../../../../shared/domain/message.ts'
import { PAYMENT_STATUSES, type Payment } from '../../../../shared/domain/payment.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { document, misfit, resolved } from '../../../support/conformance.ts'
import { aPatient } from '../../../support/table.ts'

const CLINIC = { id: newUuid() as ClinicId, timezone: 'Asia/Kathmandu' }
const at = '2026-05-01T07:00:00.000Z'
const patient = aPatient()
const named = { id: patient.id, fullName: 'Ada Kaya' }
const appointment = {
  id: newUuid(),
  patient: named,
  doctor: named,
  date: '2026-05-04',
  startTime: '09:00',
  endTime: '09:30',
  status: 'scheduled',
  notes: null,
  createdAt: at,
} satisfies Appointment
const invoice = {
  id: newUuid(),
  patient: { ...named, email: null },
  status: 'sent',
  issueDate: '2026-05-04',
  dueDate: '2026-05-18',
} as Invoice
const payment = { id: newUuid(), invoice: named, patient: named, date: '2026-05-04' } as unknown as Payment
const message = { id: newUuid(), patient: named, status: 'queued' } as Message

/** Every way that records can come to be, and change. */
const happenings: (Happening | null)[] = [
  patientHappening(null, patient),
  patientHappening(patient, { ...patient, firstName: 'Bo' }),
  appointmentHappening(appointment, { ...appointment, notes: 'x' }),
  ...APPOINTMENT_STATUSES.flatMap((status) => [
    appointmentHappening(null, { ...appointment, status }),
    appointmentHappening(appointment, { ...appointment, status }),
    appointmentHappening({ ...appointment, status: 'completed' }, { ...appointment, status, notes: 'x' }),
  ]),
  ...INVOICE_STATUSES.flatMap((status) => [
    invoiceHappening(null, { ...invoice, status, dueDate: null }),
    invoiceHappening(invoice, { ...invoice, status, paidAt: at }),
    invoiceHappening({ ...invoice, status: 'paid' }, { ...invoice, status, paidAt: at }),
  ]),
  ...PAYMENT_STATUSES.map((status) => paymentHappening(null, { ...payment, status })),
  ...CHANNELS.flatMap((channel) =>
    MESSAGE_STATUSES.map((status) =>
      messageHappening({ ...message, channel }, { ...message, channel, status }),
    ),
  ),
]

const schemaOf = (event: EventName) => {
  const { requestBody } = document.webhooks[event]?.post ?? {}
  return requestBody?.content?.['application/json']?.schema ?? {}
}

const payload = (event: EventName, data: Happening['data']) =>
  payloadOf({ id: newUuid(), event, record: newUuid(), sequence: 1, data, createdAt: at }, CLINIC)

it('every happening fits the payload of its event, in the contract and in the document', () => {
  const seen = new Set<EventName>()
  for (const happening of happenings) {
    if (!happening) continue
    seen.add(happening.event)
    const sent = payload(happening.event, happening.data)
    expect(EVENT_PAYLOADS[happening.event].safeParse(sent).error).toBeUndefined()
    expect(Event.safeParse(sent).error).toBeUndefined()
    expect(misfit(schemaOf(happening.event), sent)).toBeNull()
  }
  expect([...seen].sort()).toEqual([...EVENTS].sort())
})

it('a ping fits too, and is no event of a record', () => {
  const ping = payload(PING, { id: newUuid() })
  expect(misfit(schemaOf(PING), ping)).toBeNull()
  expect(Event.safeParse(ping).success).toBe(false)
})

it('an event with a field more, a field less or another status does not fit', () => {
  const { data, event } = appointmentHappening(appointment, {
    ...appointment,
    status: 'cancelled',
  }) as Happening
  const { doctor_id: _, ...less } = data
  for (const wrong of [{ ...data, notes: 'x' }, less, { ...data, status: 'completed' }, {}])
    expect(misfit(schemaOf(event), payload(event, wrong))).not.toBeNull()
})

it('is signed by the headers of Standard Webhooks', () => {
  for (const { post } of Object.values(document.webhooks)) {
    const names = post.parameters.map(resolved).map(({ name }) => name)
    expect(names).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    expect(post.security).toEqual([])
  }
})
