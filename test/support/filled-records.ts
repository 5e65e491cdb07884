/** One record of every kind with a value in every field, all of one patient. A field without a value does not compile. */
import type { Appointment } from '../../shared/domain/booking/appointment.ts'
import type { Message } from '../../shared/domain/messages/message.ts'
import type { Invoice } from '../../shared/domain/money/invoice.ts'
import type { Payment } from '../../shared/domain/money/payment.ts'
import { fullName, type Patient } from '../../shared/domain/patients/patient.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import type { WithUpdatedAt } from '../../shared/domain/with-updated-at.ts'
import { NOW } from './table.ts'

/** The type with no field absent or null, at any depth. */
export type Filled<Value> = Value extends readonly (infer Element)[]
  ? readonly Filled<Element>[]
  : Value extends object
    ? { readonly [Name in keyof Value]-?: Filled<NonNullable<Value[Name]>> }
    : NonNullable<Value>

const createdAt = new Date(NOW).toISOString()

/** The time of an erasure is not the patient's data. */
type FilledPatient = Filled<WithUpdatedAt<Omit<Patient, 'erasedAt'>>> & { readonly erasedAt: null }

/** Personal data that occurs nowhere else in a table. */
export const filledPatient = (): FilledPatient => ({
  id: newUuid(),
  firstName: 'Canarella',
  lastName: 'Canarowitz',
  dateOfBirth: '1931-07-13',
  gender: 'female',
  phoneNumber: '+905327351735',
  emailAddress: 'canary.mail@canaries.example',
  isActive: true,
  acceptsSms: true,
  acceptsEmail: false,
  language: 'sv-FI',
  nationalId: 'CANARY-ID-4711',
  notes: 'Canary note of the patient',
  externalId: 'CANARY-PATIENT-1',
  createdAt,
  updatedAt: createdAt,
  erasedAt: null,
})

export function filledRecords(owner: FilledPatient) {
  const patient = { id: owner.id, fullName: fullName(owner) }
  const appointment: Filled<WithUpdatedAt<Appointment>> = {
    id: newUuid(),
    patient,
    doctor: { id: newUuid(), fullName: 'Dr. Bo Lind' },
    date: '2026-05-04',
    startTime: '09:00',
    endTime: '09:30',
    status: 'scheduled',
    notes: 'Canary note of the appointment',
    treatments: [{ id: newUuid(), name: 'Check-up' }],
    room: { id: newUuid(), name: 'Room 2' },
    confirmedAt: createdAt,
    checkedInAt: createdAt,
    cancelledAt: createdAt,
    cancellationReason: 'Canary reason of the cancellation',
    externalId: 'CANARY-APPOINTMENT-1',
    createdAt,
    updatedAt: createdAt,
  }
  const invoice: Filled<WithUpdatedAt<Invoice>> = {
    id: newUuid(),
    number: 'CANARY-NUMBER-7',
    clinicStatus: 'sent',
    status: 'paid',
    issueDate: '2026-05-04',
    dueDate: '2026-06-04',
    paidAt: createdAt,
    clinicPaidAt: createdAt,
    currency: 'EUR',
    subtotal: 10_000,
    tax: 100,
    discount: 50,
    total: 10_050,
    paid: 10_050,
    patient: { ...patient, email: owner.emailAddress },
    appointmentId: newUuid(),
    doctor: { id: newUuid(), fullName: 'Dr. Bo Lind' },
    lineItems: [
      {
        id: newUuid(),
        description: 'Canary treatment',
        quantity: 10_000,
        unitPrice: 10_000,
        discount: 50,
        taxRate: 10_000,
        tax: 100,
        total: 10_050,
        doctor: { id: newUuid(), fullName: 'Dr. Bo Lind' },
        hasOwnDoctor: true,
        treatment: { id: newUuid(), name: 'Check-up' },
      },
    ],
    createdAt,
    updatedAt: createdAt,
  }
  const payment: Filled<WithUpdatedAt<Payment>> = {
    id: newUuid(),
    invoice: { id: invoice.id, number: invoice.number },
    patient,
    amount: 10_050,
    currency: 'EUR',
    type: 'payment',
    method: 'card',
    status: 'completed',
    description: 'Canary card of the brother',
    date: '2026-05-04',
    voidedAt: createdAt,
    voidReason: 'Canary of another patient',
    createdAt,
    updatedAt: createdAt,
  }
  const message: Filled<WithUpdatedAt<Message>> = {
    id: newUuid(),
    channel: 'email',
    type: 'manual',
    recipient: owner.emailAddress,
    subject: 'Canary subject',
    // Long enough to make the message's rows thin.
    text: 'Dear canary, see you soon. '.repeat(50),
    status: 'queued',
    providerMessageId: 'canary-provider-id',
    errorMessage: 'Canary mailbox is full',
    sentAt: createdAt,
    patient,
    acceptedAt: createdAt,
    acceptedOn: '2026-05-01',
    updatedAt: createdAt,
    dispatch: { dueAt: NOW, claim: { token: 'token', until: NOW + 60_000 }, isUnresolved: true },
    isTest: true,
  }
  return { appointment, invoice, payment, message }
}
