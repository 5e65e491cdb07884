/** The four calendar lists, and the names that each copies from others. */
import type { Appointment } from '../../../domain/booking/appointment.ts'
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
import { MESSAGES } from '../../../store/messages/messages.ts'
import type { StoredPatient } from '../../../store/patients/patients.ts'

export type ListName = 'appointments' | 'invoices' | 'payments' | 'messages'

export type AnyRecord = Appointment | Invoice | Payment | Message

/** The current owners of the names that a record copies, as far as they are compared. */
export type Owners = {
  readonly patient?: StoredPatient | undefined
  readonly doctor?: { readonly id: string; readonly fullName: string } | undefined
  readonly invoice?: Invoice | undefined
}

export type VerifiedList<R> = {
  readonly entity: CalendarEntity<R, never>
  /** The attributes of the names and addresses that a record copies. */
  readonly copied: readonly string[]
  /** The record with the current names and addresses of these owners. */
  readonly withCurrentNames: (record: R, owners: Owners) => R
}

const list = <R>(verified: VerifiedList<R>) => verified as unknown as VerifiedList<AnyRecord>

export const VERIFIED_LISTS: { readonly [Name in ListName]: VerifiedList<AnyRecord> } = {
  appointments: list<Appointment>({
    entity: APPOINTMENTS,
    copied: ['pn', 'dn'],
    withCurrentNames: (record, { patient, doctor }) => ({
      ...(patient ? refreshAppointmentCopy(record, patient) : record),
      ...(doctor && { doctor: { id: doctor.id, fullName: doctor.fullName } }),
    }),
  }),
  invoices: list<Invoice>({
    entity: INVOICES,
    copied: ['pn', 'pe'],
    withCurrentNames: (record, { patient }) => (patient ? refreshInvoiceCopy(record, patient) : record),
  }),
  payments: list<Payment>({
    entity: PAYMENTS,
    copied: ['pn', 'no'],
    withCurrentNames: (record, { patient, invoice }) => ({
      ...(patient ? refreshPaymentCopy(record, patient) : record),
      ...(invoice && { invoice: { id: invoice.id, number: invoice.number } }),
    }),
  }),
  messages: list<Message>({
    entity: MESSAGES,
    copied: ['pn'],
    withCurrentNames: (record, { patient }) => (patient ? refreshMessageCopy(record, patient) : record),
  }),
}
