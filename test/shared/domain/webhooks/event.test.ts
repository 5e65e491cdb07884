import { describe, expect, it } from 'vitest'
import { APPOINTMENT_STATUSES, type Appointment } from '../../../../shared/domain/booking/appointment.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { CHANNELS, MESSAGE_STATUSES } from '../../../../shared/domain/messages/message.ts'
import { INVOICE_STATUSES, type Invoice } from '../../../../shared/domain/money/invoice.ts'
import { PAYMENT_STATUSES, type Payment } from '../../../../shared/domain/money/payment.ts'
import {
  appointmentEventDraft,
  eventPayload,
  invoiceEventDraft,
  messageEventDraft,
  patientEventDraft,
  paymentEventDraft,
} from '../../../../shared/domain/webhooks/event.ts'
import { anAppointment, anInvoice, anSms, aPayment, aPerson } from '../../../support/sample-records.ts'

const id = (n: number) => `6d0e2a7c-0000-4000-8000-${String(n).padStart(12, '0')}`
const at = '2026-05-01T07:00:00.000Z'

const contact = { phoneNumber: '+905321234567', emailAddress: 'ada@example.com' }
const patient = aPerson({ id: id(1), dateOfBirth: '1980-01-02', gender: 'female', ...contact })
const named = { id: patient.id, fullName: 'Ada Kaya' }

const doctor = { id: id(3), fullName: 'Dr. Bo Lind' }
const appointment = anAppointment({ id: id(2), patient: named, doctor })

const invoice = anInvoice({ id: id(4), patient: { ...named, email: patient.emailAddress } })
const payment = aPayment(invoice, { id: id(6) })
const message = anSms({
  id: id(7),
  patient: named,
  dispatch: { dueAt: 0, claim: null, isUnresolved: false },
})

/** The record with its fields in reverse order. */
const reordered = <R>(record: R): R =>
  typeof record !== 'object' || record === null || Array.isArray(record)
    ? record
    : (Object.fromEntries(
        Object.entries(record)
          .reverse()
          .map(([name, value]) => [name, reordered(value)]),
      ) as R)

it('eventPayload returns the event with its time in the zone of the clinic', () => {
  const event = {
    id: id(20),
    event: 'patient.created' as const,
    record: patient.id,
    sequence: 3,
    data: { id: patient.id },
    createdAt: '2026-01-15T07:00:00.123Z',
  }
  const clinic = { id: id(0) as ClinicId, timezone: 'Europe/Istanbul' }
  expect(eventPayload(event, clinic)).toEqual({
    id: `evt_${id(20)}`,
    event: 'patient.created',
    clinic_id: clinic.id,
    created_at: '2026-01-15T10:00:00+03:00',
    sequence: 3,
    source: null,
    request_id: null,
    data: { id: patient.id },
  })
  expect(eventPayload(event, { ...clinic, timezone: 'America/New_York' }).created_at).toBe(
    '2026-01-15T02:00:00-05:00',
  )
})

describe('patientEventDraft', () => {
  it('is patient.created for a new patient', () => {
    expect(patientEventDraft(null, patient)).toEqual({ event: 'patient.created', data: { id: patient.id } })
  })

  it('is patient.erased, not patient.updated, when the patient is erased', () => {
    expect(patientEventDraft(patient, { ...patient, firstName: 'Erased', erasedAt: at })).toEqual({
      event: 'patient.erased',
      data: { id: patient.id },
    })
  })

  it('is patient.updated for a change of an erased patient, and patient.created for an erased one that is new', () => {
    const erased = { ...patient, erasedAt: at }
    expect(patientEventDraft(erased, { ...erased, firstName: 'Erased' })?.event).toBe('patient.updated')
    expect(patientEventDraft(null, erased)?.event).toBe('patient.created')
  })

  it('is null when no visible field has changed', () => {
    expect(patientEventDraft(patient, { ...patient })).toBeNull()
    expect(patientEventDraft(patient, reordered(patient))).toBeNull()
    // Attributes that only the store has.
    const kept = { ...patient, version: 2, searchAt: 7 }
    expect(patientEventDraft(patient, kept)).toBeNull()
  })
})

describe('appointmentEventDraft', () => {
  const data = {
    id: appointment.id,
    patient_id: patient.id,
    doctor_id: id(3),
    treatment_ids: [] as string[],
    room_id: null,
    status: 'scheduled',
    appointment_date: '2026-05-04',
    start_time: '09:00',
    end_time: '09:30',
  }

  it.each(APPOINTMENT_STATUSES)('is a created event for a new record with status %s', (status) => {
    const made = { ...appointment, status }
    expect(appointmentEventDraft(null, made)).toEqual({
      event: 'appointment.created',
      data: { ...data, status },
    })
  })

  it.each(['cancelled', 'completed', 'no_show'] as const)(
    'is appointment.%s when the status and other fields change',
    (status) => {
      const after = { ...appointment, status, notes: 'Called' }
      expect(appointmentEventDraft(appointment, after)).toEqual({
        event: `appointment.${status}`,
        data: { ...data, status },
      })
      // A later change is an update.
      expect(appointmentEventDraft(after, { ...after, notes: null })?.event).toBe('appointment.updated')
    },
  )

  it.each<[Partial<Appointment>, object]>([
    [{ date: '2026-05-05' }, { appointment_date: '2026-05-05' }],
    [{ startTime: '08:00' }, { start_time: '08:00' }],
    [{ endTime: '10:00' }, { end_time: '10:00' }],
    [{ notes: 'First appointment' }, {}],
    [{ treatments: [{ id: id(7), name: 'Check-up' }] }, { treatment_ids: [id(7)] }],
    [{ room: { id: id(7), name: 'Room 2' } }, { room_id: id(7) }],
    [{ doctor: { id: id(8), fullName: 'Dr. Bo Lind' } }, { doctor_id: id(8) }],
    [{ patient: { id: id(9), fullName: 'Ada Kaya' } }, { patient_id: id(9) }],
  ])('is an updated event when %j changes', (changes, shown) => {
    expect(appointmentEventDraft(appointment, { ...appointment, ...changes })).toEqual({
      event: 'appointment.updated',
      data: { ...data, ...shown },
    })
  })

  const instant = '2026-05-02T07:00:00.000Z'

  it.each<[string, Partial<Appointment>, object]>([
    ['confirmed', { confirmedAt: instant }, {}],
    ['checked_in', { checkedInAt: instant }, {}],
    ['updated', { room: { id: id(7), name: 'Room 2' } }, { room_id: id(7) }],
    ['updated', { treatments: [{ id: id(7), name: 'Check-up' }] }, { treatment_ids: [id(7)] }],
  ])('is appointment.%s when %j is set, and updated when it is removed', (event, changes, shown) => {
    const after = { ...appointment, ...changes }
    expect(appointmentEventDraft(appointment, after)).toEqual({
      event: `appointment.${event}`,
      data: { ...data, ...shown },
    })
    expect(appointmentEventDraft(after, appointment)?.event).toBe('appointment.updated')
  })

  it('is the end of an appointment that is confirmed at the same time', () => {
    const after = { ...appointment, status: 'completed' as const, confirmedAt: instant }
    expect(appointmentEventDraft(appointment, after)?.event).toBe('appointment.completed')
  })

  it('is appointment.updated when it is scheduled again', () => {
    const off = { ...appointment, status: 'cancelled' as const }
    expect(appointmentEventDraft(off, appointment)?.event).toBe('appointment.updated')
  })

  it('is null when nothing, or only a copied name, has changed', () => {
    expect(appointmentEventDraft(appointment, { ...appointment })).toBeNull()
    const renamed = { ...appointment, patient: { ...named, fullName: 'Ida Demir' } }
    expect(appointmentEventDraft(appointment, renamed)).toBeNull()
    const doctor = { ...appointment.doctor, fullName: 'Dr. Bea Lind' }
    expect(appointmentEventDraft(appointment, { ...appointment, doctor })).toBeNull()
  })
})

describe('invoiceEventDraft', () => {
  const data = {
    id: invoice.id,
    patient_id: patient.id,
    appointment_id: null,
    doctor_id: null,
    status: 'sent',
    issue_date: '2026-05-04',
    due_date: null,
  }

  it.each(INVOICE_STATUSES)('is a created event for a new record with status %s', (status) => {
    expect(invoiceEventDraft(null, { ...invoice, status })).toEqual({
      event: 'invoice.created',
      data: { ...data, status },
    })
  })

  it('is invoice.paid when the status becomes paid', () => {
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
    [{ appointmentId: id(7) }, { appointment_id: id(7) }],
    [{ doctor: { id: id(8), fullName: 'Dr. Bo Lind' } }, { doctor_id: id(8) }],
    [{ patient: { ...invoice.patient, id: id(9) } }, { patient_id: id(9) }],
  ])('is an updated event when %j changes', (changes, shown) => {
    expect(invoiceEventDraft(invoice, { ...invoice, ...changes })).toEqual({
      event: 'invoice.updated',
      data: { ...data, ...shown },
    })
  })

  it('is null when nothing, or only a copied name or address, has changed', () => {
    expect(invoiceEventDraft(invoice, { ...invoice })).toBeNull()
    const renamed = { ...invoice.patient, fullName: 'Ida Demir', email: null }
    expect(invoiceEventDraft(invoice, { ...invoice, patient: renamed })).toBeNull()
  })
})

describe('paymentEventDraft', () => {
  it.each(PAYMENT_STATUSES)('is payment.created for a new payment with status %s', (status) => {
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
  })

  it.each<[Partial<Payment>, object]>([
    [{ status: 'failed', voidedAt: at, voidReason: 'Mistyped' }, { status: 'failed' }],
    [{ amount: 101 }, {}],
    [{ patient: { ...payment.patient, id: id(9) } }, { patient_id: id(9) }],
    [{ date: '2026-05-05' }, { payment_date: '2026-05-05' }],
  ])('is payment.updated when %j changes', (changes, shown) => {
    expect(paymentEventDraft(payment, { ...payment, ...changes })).toMatchObject({
      event: 'payment.updated',
      data: { id: payment.id, ...shown },
    })
  })

  it('is null when nothing, or only a copied name or number, has changed', () => {
    expect(paymentEventDraft(payment, { ...payment })).toBeNull()
    const renamed = { ...payment.patient, fullName: 'Ida Demir' }
    const renumbered = { ...payment.invoice, number: '2026-9' }
    expect(paymentEventDraft(payment, { ...payment, patient: renamed, invoice: renumbered })).toBeNull()
  })
})

describe('messageEventDraft', () => {
  it.each(CHANNELS.flatMap((channel) => MESSAGE_STATUSES.map((status) => [channel, status] as const)))(
    'names channel %s and status %s when the status changes',
    (channel, status) => {
      const before = { ...message, channel }
      const after = { ...before, status }
      const draft = {
        event: `${channel}.${status}`,
        data: { id: message.id, patient_id: patient.id, status },
      }
      const expected = status === 'queued' ? null : draft
      expect(messageEventDraft(before, after)).toEqual(expected)
      expect(messageEventDraft(null, after)).toEqual(expected)
      expect(messageEventDraft(after, { ...after, errorMessage: 'Complaint', text: '' })).toBeNull()
    },
  )

  it('is null when only the dispatch has changed', () => {
    const dispatch = { dueAt: 1, claim: { token: 't', until: 2 }, isUnresolved: true }
    expect(messageEventDraft(message, { ...message, dispatch, errorMessage: 'lost' })).toBeNull()
  })
})
