/** Records as the rows that an import reads. */
import type { Appointment } from '../../../shared/domain/booking/appointment.ts'
import type { Department, PriceList, Room, Treatment } from '../../../shared/domain/booking/catalogue.ts'
import type { Doctor, TimeOff } from '../../../shared/domain/booking/doctor.ts'
import { formatExceptions, formatTimeOff } from '../../../shared/domain/booking/doctor-days.ts'
import { formatWeeklyHours } from '../../../shared/domain/booking/working-hours.ts'
import { ERASED_RECIPIENT, type Message, PROVIDERS } from '../../../shared/domain/messages/message.ts'
import { type Invoice, type LineItem, statedPaidAt } from '../../../shared/domain/money/invoice.ts'
import { RATIO_DECIMALS, renderDecimal, renderMoney } from '../../../shared/domain/money/money.ts'
import type { Payment } from '../../../shared/domain/money/payment.ts'
import { fullName, type Patient } from '../../../shared/domain/patients/patient.ts'

type Columns = Readonly<Record<string, unknown>>

export const departmentColumns = ({ name, isActive }: Department): Columns => ({ name, is_active: isActive })

export const doctorColumns = (doctor: Doctor): Columns => ({
  full_name: doctor.fullName,
  specialty: doctor.specialty,
  department_external_id: doctor.departmentId,
  is_active: doctor.isActive,
  hours: formatWeeklyHours(doctor.hours) || null,
  breaks: formatWeeklyHours(doctor.breaks) || null,
  time_off: formatTimeOff(doctor.timeOff) || null,
  exceptions: formatExceptions(doctor.exceptions) || null,
})

export const holidayColumns = ({ from, to, reason }: TimeOff): Columns => ({ from, to, name: reason })

export const roomColumns = ({ name, departmentId, isActive }: Room): Columns => ({
  name,
  department_external_id: departmentId,
  is_active: isActive,
})

export const treatmentColumns = (treatment: Treatment): Columns => ({
  name: treatment.name,
  code: treatment.code,
  description: treatment.description,
  duration_minutes: treatment.minutes,
  price: renderMoney(treatment.price, treatment.currency),
  currency: treatment.currency,
  doctor_external_ids: treatment.doctorIds,
  is_active: treatment.isActive,
})

export const priceListColumns = (list: PriceList): Columns => ({
  name: list.name,
  currency: list.currency,
  is_default: list.isDefault,
  valid_from: list.validFrom,
  valid_to: list.validTo,
  items: list.items.map(({ treatmentId, price }) => ({
    treatment_external_id: treatmentId,
    price: renderMoney(price, list.currency),
  })),
})

export const patientColumns = (patient: Patient): Columns => ({
  first_name: patient.firstName,
  last_name: patient.lastName,
  full_name: fullName(patient),
  gender: patient.gender,
  phone_number: patient.phoneNumber,
  email_address: patient.emailAddress,
  // No column says that the patient was erased. An inactive patient cannot get appointments or messages either.
  is_active: patient.isActive && patient.erasedAt === null,
  national_id: patient.nationalId,
  notes: patient.notes,
  date_of_birth: patient.dateOfBirth,
  created_at: patient.createdAt,
})

export const appointmentColumns = (appointment: Appointment): Columns => ({
  patient_external_id: appointment.patient.id,
  doctor_external_id: appointment.doctor.id,
  appointment_date: appointment.date,
  start_time: appointment.startTime,
  end_time: appointment.endTime,
  status: appointment.status,
  notes: appointment.notes,
  room_external_id: appointment.room?.id ?? null,
  treatment_external_ids: appointment.treatments.map(({ id }) => id),
  confirmed_at: appointment.confirmedAt,
  checked_in_at: appointment.checkedInAt,
  cancelled_at: appointment.cancelledAt,
  cancellation_reason: appointment.cancellationReason,
  created_at: appointment.createdAt,
})

/** `status` and `paid_at` are what the clinic set: payments determine what is shown. */
export function invoiceColumns(invoice: Invoice): Columns {
  const money = (minor: number) => renderMoney(minor, invoice.currency)
  return {
    patient_external_id: invoice.patient.id,
    invoice_number: invoice.number,
    status: invoice.clinicStatus,
    issue_date: invoice.issueDate,
    due_date: invoice.dueDate,
    paid_at: statedPaidAt(invoice),
    currency: invoice.currency,
    subtotal: money(invoice.subtotal),
    tax_amount: money(invoice.tax),
    discount_amount: money(invoice.discount),
    total_amount: money(invoice.total),
    paid_amount: money(invoice.paid),
    balance_due: money(invoice.total - invoice.paid),
    line_items: invoice.lineItems.map((item) => lineItemColumns(item, money)),
    created_at: invoice.createdAt,
  }
}

const lineItemColumns = (item: LineItem, money: (minor: number) => number): Columns => ({
  description: item.description,
  quantity: renderDecimal(item.quantity, RATIO_DECIMALS),
  unit_price: money(item.unitPrice),
  discount_amount: money(item.discount),
  tax_rate: renderDecimal(item.taxRate, RATIO_DECIMALS),
  tax_amount: money(item.tax),
  total_amount: money(item.total),
})

export const paymentColumns = (payment: Payment): Columns => ({
  invoice_external_id: payment.invoice.id,
  amount: renderMoney(payment.amount, payment.currency),
  currency: payment.currency,
  type: payment.type,
  payment_method: payment.method,
  status: payment.status,
  description: payment.description,
  payment_date: payment.date,
  voided_at: payment.voidedAt,
  void_reason: payment.voidReason,
  created_at: payment.createdAt,
})

export const messageColumns = (message: Message): Columns => ({
  patient_external_id: message.patient.id,
  channel: message.channel,
  type: message.type,
  recipient: message.recipient,
  subject: message.subject,
  // An erasure leaves none, and an import requires one.
  message: message.text || ERASED_RECIPIENT,
  status: message.status,
  provider: PROVIDERS[message.channel],
  provider_message_id: message.providerMessageId,
  error_message: message.errorMessage,
  sent_at: message.sentAt,
  created_at: message.acceptedAt,
})
