import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { APPOINTMENT_STATUSES, type Appointment } from '../../../../shared/domain/booking/appointment.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import {
  CHANNELS,
  MESSAGE_STATUSES,
  MESSAGE_TYPES,
  type Message,
} from '../../../../shared/domain/messages/message.ts'
import { INVOICE_STATUSES, type Invoice } from '../../../../shared/domain/money/invoice.ts'
import {
  PAYMENT_METHODS,
  PAYMENT_STATUSES,
  PAYMENT_TYPES,
  type Payment,
} from '../../../../shared/domain/money/payment.ts'
import { GENDERS, type Patient } from '../../../../shared/domain/patients/patient.ts'
import {
  appointmentEventDraft,
  EVENTS,
  type EventDraft,
  eventPayload,
  invoiceEventDraft,
  messageEventDraft,
  patientEventDraft,
  paymentEventDraft,
} from '../../../../shared/domain/webhooks/event.ts'
import { property } from '../../../support/scale.ts'

const id = (n: number) => `6d0e2a7c-0000-4000-8000-${String(n).padStart(12, '0')}`
const clinic = { id: id(0) as ClinicId, timezone: 'Europe/Istanbul' }

describe('eventPayload', () => {
  const eventOf = ({ event, data }: EventDraft) => ({
    id: id(20),
    event,
    record: id(1),
    sequence: 3,
    data,
    createdAt: '2026-01-15T07:00:00.123Z',
  })

  const CANARY = 'CANARY'
  const canary = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => `${CANARY}${text}`)
  const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null })
  /** A record before (null for a new one) and after a change. */
  const changesOf = <R>(records: fc.Arbitrary<R>) =>
    fc.tuple(fc.option(records, { nil: null, freq: 1 }), records)
  const anId = fc.uuid()
  const aDate = fc
    .date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10))
  const aTime = fc
    .tuple(fc.nat(23), fc.nat(59))
    .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'))
  const anInstant = aDate.map((date) => `${date}T07:00:00.000Z`)
  const anAmount = fc.integer({ min: 0, max: 1e9 })
  const person = fc.record({ id: anId, fullName: canary })

  const patients = fc.record<Patient>({
    id: anId,
    firstName: canary,
    lastName: canary,
    dateOfBirth: maybe(aDate),
    gender: fc.constantFrom(...GENDERS, null),
    phoneNumber: maybe(canary),
    emailAddress: maybe(canary),
    isActive: fc.boolean(),
    nationalId: maybe(canary),
    notes: maybe(canary),
    externalId: maybe(canary),
    createdAt: anInstant,
    erasedAt: maybe(anInstant),
  })
  const appointments = fc.record<Appointment>({
    id: anId,
    patient: person,
    doctor: person,
    date: aDate,
    startTime: aTime,
    endTime: aTime,
    status: fc.constantFrom(...APPOINTMENT_STATUSES),
    notes: maybe(canary),
    treatments: fc.array(fc.record({ id: anId, name: canary })),
    room: maybe(fc.record({ id: anId, name: canary })),
    confirmedAt: maybe(anInstant),
    checkedInAt: maybe(anInstant),
    cancelledAt: maybe(anInstant),
    cancellationReason: maybe(canary),
    externalId: maybe(canary),
    createdAt: anInstant,
  })
  const invoices = fc.record<Invoice>({
    id: anId,
    number: canary,
    clinicStatus: fc.constantFrom(...INVOICE_STATUSES),
    status: fc.constantFrom(...INVOICE_STATUSES),
    issueDate: aDate,
    dueDate: maybe(aDate),
    paidAt: maybe(anInstant),
    clinicPaidAt: maybe(anInstant),
    currency: fc.constant('EUR'),
    subtotal: anAmount,
    tax: anAmount,
    discount: anAmount,
    total: anAmount,
    paid: anAmount,
    patient: fc.record({ id: anId, fullName: canary, email: maybe(canary) }),
    lineItems: fc.array(
      fc.record({
        id: anId,
        description: canary,
        quantity: anAmount,
        unitPrice: anAmount,
        discount: anAmount,
        taxRate: anAmount,
        tax: anAmount,
        total: anAmount,
      }),
      { maxLength: 2 },
    ),
    createdAt: anInstant,
  })
  const payments = fc.record<Payment>({
    id: anId,
    invoice: fc.record({ id: anId, number: canary }),
    patient: person,
    amount: anAmount,
    currency: fc.constant('EUR'),
    type: fc.constantFrom(...PAYMENT_TYPES),
    method: fc.constantFrom(...PAYMENT_METHODS),
    status: fc.constantFrom(...PAYMENT_STATUSES),
    description: maybe(canary),
    date: aDate,
    voidedAt: maybe(anInstant),
    voidReason: maybe(canary),
    createdAt: anInstant,
  })
  const messages = fc.record<Message>({
    id: anId,
    channel: fc.constantFrom(...CHANNELS),
    type: fc.constantFrom(...MESSAGE_TYPES),
    recipient: canary,
    subject: maybe(canary),
    text: canary,
    status: fc.constantFrom(...MESSAGE_STATUSES),
    providerMessageId: maybe(canary),
    errorMessage: maybe(canary),
    sentAt: maybe(anInstant),
    patient: person,
    acceptedAt: anInstant,
    acceptedOn: aDate,
    dispatch: fc.constant(null),
  })

  const STATUSES: readonly string[] = [
    ...APPOINTMENT_STATUSES,
    ...INVOICE_STATUSES,
    ...PAYMENT_STATUSES,
    ...MESSAGE_STATUSES,
  ]
  /** The valid values of each field of `data`. */
  const FORMS: [name: RegExp, isOne: (value: string | null) => boolean][] = [
    [
      /^id$|^(patient|doctor|invoice)_id$/,
      (value) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value ?? ''),
    ],
    [/^status$/, (value) => STATUSES.includes(value ?? '')],
    [/^(appointment|issue|payment)_date$/, (value) => /^\d{4}-\d\d-\d\d$/.test(value ?? '')],
    [/^due_date$/, (value) => value === null || /^\d{4}-\d\d-\d\d$/.test(value)],
    [/^(start|end)_time$/, (value) => /^\d\d:\d\d$/.test(value ?? '')],
  ]

  it.each<
    [
      string,
      fc.Arbitrary<[before: unknown, after: unknown]>,
      (before: never, after: never) => EventDraft | null,
    ]
  >([
    ['a patient', changesOf(patients), patientEventDraft],
    ['an appointment', changesOf(appointments), appointmentEventDraft],
    ['an invoice', changesOf(invoices), invoiceEventDraft],
    ['a payment', changesOf(payments), paymentEventDraft],
    ['a message', changesOf(messages), messageEventDraft],
  ])('of %s has only ids, a status, dates and times', (_, changes, draftOf) => {
    let drafts = 0
    fc.assert(
      fc.property(changes, ([before, after]) => {
        const draft = draftOf(before as never, after as never)
        if (!draft) return
        drafts++
        expect(EVENTS).toContain(draft.event)
        expect(JSON.stringify(eventPayload(eventOf(draft), clinic))).not.toContain(CANARY)
        for (const [name, value] of Object.entries(draft.data))
          expect([
            name,
            value,
            FORMS.some(([form, isOne]) => form.test(name) && isOne(value as string | null)),
          ]).toEqual([name, value, true])
      }),
      property(300, 20_000),
    )
    expect(drafts).toBeGreaterThan(50)
  })
})
