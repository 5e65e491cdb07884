/** The four calendar lists, and the names that each copies from others. */
import type { Appointment, PersonReference } from '../../../domain/booking/appointment.ts'
import type { Message } from '../../../domain/messages/message.ts'
import type { Invoice } from '../../../domain/money/invoice.ts'
import type { Payment } from '../../../domain/money/payment.ts'
import { APPOINTMENTS } from '../../../store/calendar/appointments.ts'
import type { CalendarEntity } from '../../../store/calendar/calendar-entity.ts'
import { INVOICES } from '../../../store/calendar/invoices.ts'
import { PAYMENTS } from '../../../store/calendar/payments.ts'
import {
  refreshAppointmentCopy,
  refreshInvoiceCopy,
  refreshMessageCopy,
  refreshPaymentCopy,
} from '../../../store/copies/copied-names.ts'
import type { StoredDoctor } from '../../../store/doctors.ts'
import { MESSAGES } from '../../../store/messages/messages.ts'
import type { StoredPatient } from '../../../store/patients/patients.ts'

/** The current owners of the names that a record copies; a doctor or invoice only if the record has one. */
export type Owners = {
  readonly patient: StoredPatient
  readonly doctor: StoredDoctor | null
  readonly invoice: Invoice | null
}

export type ListName = 'appointments' | 'invoices' | 'payments' | 'messages'

export type VerifiedList<R> = {
  readonly name: ListName
  readonly entity: CalendarEntity<R, never>
  /** The names and addresses that a record copies. */
  readonly copiedValues: (record: R) => readonly (string | null)[]
  /** The record with the current names and addresses of its owners. */
  readonly withCurrentNames: (record: R, owners: Owners) => R
}

/** Fields of every kind of record. */
export type AnyRecord = { readonly id: string; readonly patient: PersonReference }

export const APPOINTMENT_LIST: VerifiedList<Appointment> = {
  name: 'appointments',
  entity: APPOINTMENTS,
  copiedValues: ({ patient, doctor }) => [patient.fullName, doctor.fullName],
  withCurrentNames: (record, { patient, doctor }) => ({
    ...refreshAppointmentCopy(record, patient),
    doctor: doctor ? { id: doctor.id, fullName: doctor.fullName } : record.doctor,
  }),
}

export const INVOICE_LIST: VerifiedList<Invoice> = {
  name: 'invoices',
  entity: INVOICES,
  copiedValues: ({ patient }) => [patient.fullName, patient.email],
  withCurrentNames: (record, { patient }) => refreshInvoiceCopy(record, patient),
}

export const PAYMENT_LIST: VerifiedList<Payment> = {
  name: 'payments',
  entity: PAYMENTS,
  copiedValues: ({ patient, invoice }) => [patient.fullName, invoice.number],
  withCurrentNames: (record, { patient, invoice }) => ({
    ...refreshPaymentCopy(record, patient),
    invoice: invoice ? { id: invoice.id, number: invoice.number } : record.invoice,
  }),
}

export const MESSAGE_LIST: VerifiedList<Message> = {
  name: 'messages',
  entity: MESSAGES,
  copiedValues: ({ patient }) => [patient.fullName],
  withCurrentNames: (record, { patient }) => refreshMessageCopy(record, patient),
}
