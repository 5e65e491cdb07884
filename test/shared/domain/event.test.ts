import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { APPOINTMENT_STATUSES, type Appointment } from '../../../shared/domain/appointment.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import {
  appointmentEventDraft,
  EVENTS,
  type EventDraft,
  eventPayload,
  invoiceEventDraft,
  messageEventDraft,
  patientEventDraft,
  paymentEventDraft,
} from '../../../shared/domain/event.ts'
import { INVOICE_STATUSES, type Invoice } from '../../../shared/domain/invoice.ts'
import { CHANNELS, MESSAGE_STATUSES, MESSAGE_TYPES, type Message } from '../../../shared/domain/message.ts'
import { GENDERS, type Patient } from '../../../shared/domain/patient.ts'
import {
  PAYMENT_METHODS,
  PAYMENT_STATUSES,
  PAYMENT_TYPES,
  type Payment,
} from '../../../shared/domain/payment.ts'
import { property } from '../../support/scale.ts'

const id = (n: number) => `6d0e2a7c-0000-4000-8000-${String(n).padStart(12, '0')}`
const clinic = { id: id(0) as ClinicId, timezone: 'Europe/Istanbul' }
const at = '2026-05-01T07:00:00.000Z'

const patient: Patient = {
  id: id(1),
  firstName: 'Ada',
  lastName: 'Kaya',
  dateOfBirth: '1980-01-02',
  gender: 'female',
  phoneNumber: '+905321234567',
  emailAddress: 'ada@example.com',
  createdAt: at,
}
const named = { id: patient.id, fullName: 'Ada Kaya' }

const appointment: Appointment = {
  id: id(2),
  patient: named,
  doctor: { id: id(3), fullName: 'Dr. Bo Lind' },
  date: '2026-05-04',
  startTime: '09:00',
  endTime: '09:30',
  status: 'scheduled',
  notes: null,
  createdAt: at,
}

const invoice: Invoice = {
  id: id(4),
  number: '2026-1',
  clinicStatus: 'sent',
  status: 'sent',
  issueDate: '2026-05-04',
  dueDate: null,
  paidAt: null,
  currency: 'EUR',
  subtotal: 100,
  tax: 0,
  discount: 0,
  total: 100,
  paid: 0,
  patient: { ...named, email: patient.emailAddress },
  lineItems: [
    {
      id: id(5),
      description: 'Visit',
      quantity: 10_000,
      unitPrice: 100,
      discount: 0,
      taxRate: 0,
      tax: 0,
      total: 100,
    },
  ],
  createdAt: at,
}

const payment: Payment = {
  id: id(6),
  invoice: { id: invoice.id, number: invoice.number },
  patient: named,
  amount: 100,
  currency: 'EUR',
  type: 'payment',
  method: 'card',
  status: 'completed',
  description: null,
  date: '2026-05-04',
  createdAt: at,
}

const message: Message = {
  id: id(7),
  channel: 'sms',
  type: 'manual',
  recipient: '+905321234567',
  subject: null,
  text: 'See you at ten',
  status: 'queued',
  providerMessageId: null,
  errorMessage: null,
  sentAt: null,
  patient: named,
  acceptedAt: at,
  acceptedOn: '2026-05-01',
  dispatch: { dueAt: 0, claim: null, isUnresolved: false },
}

/** The same record, as another reading of it may have it: nothing depends on the order of fields. */
const reordered = <R>(record: R): R =>
  typeof record !== 'object' || record === null || Array.isArray(record)
    ? record
    : (Object.fromEntries(
        Object.entries(record)
          .reverse()
          .map(([name, value]) => [name, reordered(value)]),
      ) as R)

describe('of a patient', () => {
  it('is created, once', () => {
    expect(patientEventDraft(null, patient)).toEqual({ event: 'patient.created', data: { id: patient.id } })
  })

  it.each<[Partial<Patient>]>([
    [{ firstName: 'Ida' }],
    [{ lastName: 'Demir' }],
    [{ dateOfBirth: null }],
    [{ gender: 'other' }],
    [{ phoneNumber: null }],
    [{ emailAddress: 'ida@example.com' }],
  ])('is updated by %j', (changes) => {
    expect(patientEventDraft(patient, { ...patient, ...changes })).toEqual({
      event: 'patient.updated',
      data: { id: patient.id },
    })
  })

  it('is nothing when nothing that anybody may read has changed', () => {
    expect(patientEventDraft(patient, { ...patient })).toBeNull()
    expect(patientEventDraft(patient, reordered(patient))).toBeNull()
    // What the store keeps beside it.
    const kept = { ...patient, version: 2, searchAt: 7 }
    expect(patientEventDraft(patient, kept)).toBeNull()
  })
})

describe('of an appointment', () => {
  const data = {
    id: appointment.id,
    patient_id: patient.id,
    doctor_id: id(3),
    status: 'scheduled',
    appointment_date: '2026-05-04',
    start_time: '09:00',
    end_time: '09:30',
  }

  it.each(APPOINTMENT_STATUSES)('is created, also as %s', (status) => {
    const made = { ...appointment, status }
    expect(appointmentEventDraft(null, made)).toEqual({
      event: 'appointment.created',
      data: { ...data, status },
    })
  })

  it.each(['cancelled', 'completed', 'no_show'] as const)(
    'is %s, also when more changes with it',
    (status) => {
      const after = { ...appointment, status, notes: 'Called' }
      expect(appointmentEventDraft(appointment, after)).toEqual({
        event: `appointment.${status}`,
        data: { ...data, status },
      })
      // Once: what follows is an update.
      expect(appointmentEventDraft(after, { ...after, notes: null })?.event).toBe('appointment.updated')
    },
  )

  it.each<[Partial<Appointment>, object]>([
    [{ date: '2026-05-05' }, { appointment_date: '2026-05-05' }],
    [{ startTime: '08:00' }, { start_time: '08:00' }],
    [{ endTime: '10:00' }, { end_time: '10:00' }],
    [{ notes: 'First visit' }, {}],
    [{ doctor: { id: id(8), fullName: 'Dr. Bo Lind' } }, { doctor_id: id(8) }],
    [{ patient: { id: id(9), fullName: 'Ada Kaya' } }, { patient_id: id(9) }],
  ])('is updated by %j', (changes, shown) => {
    expect(appointmentEventDraft(appointment, { ...appointment, ...changes })).toEqual({
      event: 'appointment.updated',
      data: { ...data, ...shown },
    })
  })

  it('is updated when it is on again', () => {
    const off = { ...appointment, status: 'cancelled' as const }
    expect(appointmentEventDraft(off, appointment)?.event).toBe('appointment.updated')
  })

  it('is nothing when nothing, or only a copied name, has changed', () => {
    expect(appointmentEventDraft(appointment, { ...appointment })).toBeNull()
    const renamed = { ...appointment, patient: { ...named, fullName: 'Ida Demir' } }
    expect(appointmentEventDraft(appointment, renamed)).toBeNull()
    const doctor = { ...appointment.doctor, fullName: 'Dr. Bea Lind' }
    expect(appointmentEventDraft(appointment, { ...appointment, doctor })).toBeNull()
  })

  it('is nothing when its fields come in another order', () => {
    expect(appointmentEventDraft(appointment, reordered(appointment))).toBeNull()
  })
})

describe('of an invoice', () => {
  const data = {
    id: invoice.id,
    patient_id: patient.id,
    status: 'sent',
    issue_date: '2026-05-04',
    due_date: null,
  }

  it.each(INVOICE_STATUSES)('is created, also as %s', (status) => {
    expect(invoiceEventDraft(null, { ...invoice, status })).toEqual({
      event: 'invoice.created',
      data: { ...data, status },
    })
  })

  it('is paid, once', () => {
    const paid: Invoice = { ...invoice, status: 'paid', paid: 100, paidAt: at }
    for (const before of INVOICE_STATUSES.filter((status) => status !== 'paid'))
      expect(invoiceEventDraft({ ...invoice, status: before }, paid)).toEqual({
        event: 'invoice.paid',
        data: { ...data, status: 'paid' },
      })
    expect(invoiceEventDraft(paid, { ...paid, dueDate: '2026-06-01' })?.event).toBe('invoice.updated')
    expect(invoiceEventDraft(paid, { ...paid, status: 'refunded', paid: 0 })?.event).toBe('invoice.updated')
  })

  it.each<[Partial<Invoice>, object]>([
    [{ dueDate: '2026-06-01' }, { due_date: '2026-06-01' }],
    [{ issueDate: '2026-05-05' }, { issue_date: '2026-05-05' }],
    [{ status: 'partially_paid', paid: 10 }, { status: 'partially_paid' }],
    [{ number: '2026-2' }, {}],
    [{ total: 200 }, {}],
    [{ lineItems: [] }, {}],
    [{ patient: { ...invoice.patient, id: id(9) } }, { patient_id: id(9) }],
  ])('is updated by %j', (changes, shown) => {
    expect(invoiceEventDraft(invoice, { ...invoice, ...changes })).toEqual({
      event: 'invoice.updated',
      data: { ...data, ...shown },
    })
  })

  it('is nothing when nothing, or only a copied name or address, has changed', () => {
    expect(invoiceEventDraft(invoice, { ...invoice })).toBeNull()
    const renamed = { ...invoice.patient, fullName: 'Ida Demir', email: null }
    expect(invoiceEventDraft(invoice, { ...invoice, patient: renamed })).toBeNull()
  })

  it('is nothing when its fields, or those of its items, come in another order', () => {
    expect(invoiceEventDraft(invoice, reordered(invoice))).toBeNull()
    const items = invoice.lineItems.map(reordered)
    expect(invoiceEventDraft(invoice, { ...invoice, lineItems: items })).toBeNull()
  })
})

describe('of a payment', () => {
  it.each(PAYMENT_STATUSES)('is created, also as %s, and nothing after that', (status) => {
    const made = { ...payment, status }
    expect(paymentEventDraft(null, made)).toEqual({
      event: 'payment.created',
      data: {
        id: payment.id,
        invoice_id: invoice.id,
        patient_id: patient.id,
        status,
        payment_date: '2026-05-04',
      },
    })
    expect(paymentEventDraft(payment, made)).toBeNull()
  })
})

describe('of a message', () => {
  it.each(CHANNELS.flatMap((channel) => MESSAGE_STATUSES.map((status) => [channel, status] as const)))(
    'is that the %s is %s, once',
    (channel, status) => {
      const before = { ...message, channel }
      const after = { ...before, status }
      const happening = {
        event: `${channel}.${status}`,
        data: { id: message.id, patient_id: patient.id, status },
      }
      const expected = status === 'queued' ? null : happening
      expect(messageEventDraft(before, after)).toEqual(expected)
      expect(messageEventDraft(null, after)).toEqual(expected)
      expect(messageEventDraft(after, { ...after, errorMessage: 'Complaint', text: '' })).toBeNull()
    },
  )

  it('is nothing while it is claimed, put off or left to a person', () => {
    const dispatch = { dueAt: 1, claim: { token: 't', until: 2 }, isUnresolved: true }
    expect(messageEventDraft(message, { ...message, dispatch, errorMessage: 'lost' })).toBeNull()
  })
})

describe('a payload', () => {
  const eventOf = ({ event, data }: EventDraft) => ({
    id: id(20),
    event,
    record: id(1),
    sequence: 3,
    data,
    createdAt: '2026-01-15T07:00:00.123Z',
  })

  it('is the event on the clinic’s clock, and no more', () => {
    const happening = patientEventDraft(null, patient) as EventDraft
    expect(eventPayload(eventOf(happening), clinic)).toEqual({
      id: `evt_${id(20)}`,
      event: 'patient.created',
      clinic_id: clinic.id,
      created_at: '2026-01-15T10:00:00+03:00',
      sequence: 3,
      data: { id: patient.id },
    })
    expect(eventPayload(eventOf(happening), { ...clinic, timezone: 'America/New_York' }).created_at).toBe(
      '2026-01-15T02:00:00-05:00',
    )
  })

  const CANARY = 'CANARY'
  const canary = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => `${CANARY}${text}`)
  const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null })
  /** A record as it was, half the time as one that was not, and as it is. */
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
  const somebody = fc.record({ id: anId, fullName: canary })

  const patients = fc.record<Patient>({
    id: anId,
    firstName: canary,
    lastName: canary,
    dateOfBirth: maybe(aDate),
    gender: fc.constantFrom(...GENDERS, null),
    phoneNumber: maybe(canary),
    emailAddress: maybe(canary),
    createdAt: anInstant,
  })
  const appointments = fc.record<Appointment>({
    id: anId,
    patient: somebody,
    doctor: somebody,
    date: aDate,
    startTime: aTime,
    endTime: aTime,
    status: fc.constantFrom(...APPOINTMENT_STATUSES),
    notes: maybe(canary),
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
    patient: somebody,
    amount: anAmount,
    currency: fc.constant('EUR'),
    type: fc.constantFrom(...PAYMENT_TYPES),
    method: fc.constantFrom(...PAYMENT_METHODS),
    status: fc.constantFrom(...PAYMENT_STATUSES),
    description: maybe(canary),
    date: aDate,
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
    patient: somebody,
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
  /** What each field of `data` may be. */
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
  ])('of %s has ids, a status, dates and times, and nothing of whom it tells', (_, changes, happeningOf) => {
    let made = 0
    fc.assert(
      fc.property(changes, ([before, after]) => {
        const happening = happeningOf(before as never, after as never)
        if (!happening) return
        made++
        expect(EVENTS).toContain(happening.event)
        expect(JSON.stringify(eventPayload(eventOf(happening), clinic))).not.toContain(CANARY)
        for (const [name, value] of Object.entries(happening.data))
          expect([name, value, FORMS.some(([form, isOne]) => form.test(name) && isOne(value))]).toEqual([
            name,
            value,
            true,
          ])
      }),
      property(300, 20_000),
    )
    expect(made).toBeGreaterThan(50)
  })
})
