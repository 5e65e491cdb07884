/** Records as the rows that an import reads, where the texts of a file differ from the values that an import compares. */
import type { PriceList, Treatment } from '../../../shared/domain/booking/catalogue.ts'
import type { Doctor } from '../../../shared/domain/booking/doctor.ts'
import { formatExceptions, formatTimeOff } from '../../../shared/domain/booking/doctor-days.ts'
import { formatWeeklyHours } from '../../../shared/domain/booking/working-hours.ts'
import { ERASED_RECIPIENT, type Message, PROVIDERS } from '../../../shared/domain/messages/message.ts'
import {
  followsDoctor,
  type Invoice,
  type LineItem,
  statedPaidAt,
} from '../../../shared/domain/money/invoice.ts'
import { RATIO_DECIMALS, renderDecimal, renderMoney } from '../../../shared/domain/money/money.ts'
import type { Payment } from '../../../shared/domain/money/payment.ts'
import { fullName, type Patient } from '../../../shared/domain/patients/patient.ts'
import { doctorValues } from '../../../shared/sync/entities/doctors.ts'
import { invoiceValues } from '../../../shared/sync/entities/invoices.ts'
import { messageValues } from '../../../shared/sync/entities/messages.ts'
import { patientValues } from '../../../shared/sync/entities/patients.ts'
import { paymentValues } from '../../../shared/sync/entities/payments.ts'
import { priceListValues } from '../../../shared/sync/entities/price-lists.ts'
import { treatmentValues } from '../../../shared/sync/entities/treatments.ts'

type Columns = Readonly<Record<string, unknown>>

export const doctorColumns = (doctor: Doctor): Columns => ({
  ...doctorValues(doctor),
  hours: formatWeeklyHours(doctor.hours) || null,
  breaks: formatWeeklyHours(doctor.breaks) || null,
  time_off: formatTimeOff(doctor.timeOff) || null,
  exceptions: formatExceptions(doctor.exceptions) || null,
})

export const treatmentColumns = (treatment: Treatment): Columns => ({
  ...treatmentValues(treatment),
  price: renderMoney(treatment.price, treatment.currency),
})

export const priceListColumns = (list: PriceList): Columns => ({
  ...priceListValues(list),
  items: list.items.map(({ treatmentId, price }) => ({
    treatment_external_id: treatmentId,
    price: renderMoney(price, list.currency),
  })),
})

export const patientColumns = (patient: Patient): Columns => ({
  ...patientValues(patient),
  full_name: fullName(patient),
  // No column says that the patient was erased. An inactive patient cannot get appointments or messages either.
  is_active: patient.isActive && patient.erasedAt === null,
})

/** `status` and `paid_at` are what the clinic set: payments determine what is shown. */
export function invoiceColumns(invoice: Invoice): Columns {
  const money = (minor: number) => renderMoney(minor, invoice.currency)
  return {
    ...invoiceValues(invoice),
    paid_at: statedPaidAt(invoice),
    subtotal: money(invoice.subtotal),
    tax_amount: money(invoice.tax),
    discount_amount: money(invoice.discount),
    total_amount: money(invoice.total),
    paid_amount: money(invoice.paid),
    balance_due: money(invoice.total - invoice.paid),
    line_items: invoice.lineItems.map((item) =>
      lineItemColumns(followsDoctor(item, invoice) ? { ...item, doctor: null } : item, money),
    ),
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
  doctor_external_id: item.doctor?.id ?? null,
  treatment_external_id: item.treatment?.id ?? null,
})

export const paymentColumns = (payment: Payment): Columns => ({
  ...paymentValues(payment),
  amount: renderMoney(payment.amount, payment.currency),
})

export const messageColumns = (message: Message): Columns => ({
  ...messageValues(message),
  // An erasure leaves none, and an import requires one.
  message: message.text || ERASED_RECIPIENT,
  provider: PROVIDERS[message.channel],
})
