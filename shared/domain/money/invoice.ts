import {
  CATALOGUE_REFERENCE_FIELDS,
  type CatalogueReference,
  DOCTOR_REFERENCE_FIELDS,
  PATIENT_REFERENCE_FIELDS,
  type PersonReference,
} from '../booking/appointment.ts'
import { copied, eraseBy, eraseTo, type FieldPolicies, KEEP, KEEP_SILENTLY } from '../field-policy.ts'
import { divideHalfUp, RATIO_SCALE, sumOf } from './money.ts'
import { erasedInvoiceNumber, type Payment, sumOfPayments } from './payment.ts'

export const INVOICE_STATUSES = [
  'draft',
  'pending',
  'sent',
  'partially_paid',
  'paid',
  'overdue',
  'cancelled',
  'refunded',
] as const
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number]

/** Amounts in minor units; quantity and tax rate (percent) in ten-thousandths. */
export type LineItem = {
  readonly id: string
  readonly description: string
  readonly quantity: number
  readonly unitPrice: number
  readonly discount: number
  readonly taxRate: number
  readonly tax: number
  readonly total: number
  readonly doctor: PersonReference | null
  /** Whether the line was given its doctor, who then stays when the invoice gets another. Lines from before this was stored lack it. */
  readonly hasOwnDoctor?: true | undefined
  readonly treatment: CatalogueReference | null
}

/** An invoice. Amounts are in minor units of its currency. */
export type Invoice = {
  readonly id: string
  readonly number: string
  /** The status that the clinic set. Payments may change the status shown ({@link applyPayments}). */
  readonly clinicStatus: InvoiceStatus
  readonly status: InvoiceStatus
  /** Clinic-local `Y-m-d`. */
  readonly issueDate: string
  readonly dueDate: string | null
  /** ISO 8601 instant; null until paid in full. */
  readonly paidAt: string | null
  /** The time of payment that the clinic has stated, whatever the payments say. */
  readonly clinicPaidAt: string | null
  readonly currency: string
  readonly subtotal: number
  readonly tax: number
  readonly discount: number
  readonly total: number
  readonly paid: number
  readonly patient: PersonReference & { readonly email: string | null }
  readonly appointmentId: string | null
  /** With the name at the last import or correction of the invoice; so are the names of the line items. */
  readonly doctor: PersonReference | null
  readonly lineItems: readonly LineItem[]
  /** ISO 8601 instant. */
  readonly createdAt: string
}

/** Replaces the description of a line item, which may say what the patient was treated for. */
const ERASED_DESCRIPTION = 'Erased'

export const LINE_ITEM_FIELDS = {
  id: KEEP,
  description: eraseTo(ERASED_DESCRIPTION),
  quantity: KEEP,
  unitPrice: KEEP,
  discount: KEEP,
  taxRate: KEEP,
  tax: KEEP,
  total: KEEP,
  doctor: { fields: DOCTOR_REFERENCE_FIELDS },
  hasOwnDoctor: KEEP_SILENTLY,
  treatment: { fields: CATALOGUE_REFERENCE_FIELDS },
} satisfies FieldPolicies<LineItem>

export const INVOICE_FIELDS = {
  id: KEEP,
  number: eraseBy(erasedInvoiceNumber),
  clinicStatus: KEEP,
  status: KEEP,
  issueDate: KEEP,
  dueDate: KEEP,
  paidAt: KEEP,
  clinicPaidAt: KEEP_SILENTLY,
  currency: KEEP,
  subtotal: KEEP,
  tax: KEEP,
  discount: KEEP,
  total: KEEP,
  paid: KEEP,
  patient: { fields: { ...PATIENT_REFERENCE_FIELDS, email: copied(eraseTo(null)) } },
  appointmentId: KEEP,
  doctor: { fields: DOCTOR_REFERENCE_FIELDS },
  lineItems: { each: LINE_ITEM_FIELDS },
  createdAt: KEEP,
} satisfies FieldPolicies<Invoice>

/** Whether a line item has the doctor of its invoice because it has none of its own. */
export const followsDoctor = (item: Pick<LineItem, 'doctor' | 'hasOwnDoctor'>, of: Pick<Invoice, 'doctor'>) =>
  !item.hasOwnDoctor && (item.doctor === null || item.doctor.id === of.doctor?.id)

/** Sets the doctor of an invoice, and of its line items without one of their own. */
export const withDoctor = (invoice: Invoice, doctor: PersonReference | null): Invoice => ({
  ...invoice,
  doctor,
  lineItems: invoice.lineItems.map((item) => (followsDoctor(item, invoice) ? { ...item, doctor } : item)),
})

/** quantity x unit price, exact: minor units times {@link RATIO_SCALE}. */
const product = ({ quantity, unitPrice }: Pick<LineItem, 'quantity' | 'unitPrice'>): bigint =>
  BigInt(quantity) * BigInt(unitPrice)

export const lineAmount = (item: Pick<LineItem, 'quantity' | 'unitPrice'>): number =>
  divideHalfUp(product(item), BigInt(RATIO_SCALE))

/** The sum of quantity x unit price, rounded once. */
export const subtotalOf = (items: readonly Pick<LineItem, 'quantity' | 'unitPrice'>[]): number =>
  divideHalfUp(
    items.reduce((sum, item) => sum + product(item), 0n),
    BigInt(RATIO_SCALE),
  )

/** A tax or a discount in minor units: an amount at a rate in ten-thousandths of a percent. */
export const percentageOf = (amount: number, rate: number): number =>
  divideHalfUp(BigInt(amount) * BigInt(rate), 100n * BigInt(RATIO_SCALE))

type Summed = Pick<LineItem, 'tax' | 'discount'>

export const sumOfLines = (items: readonly Summed[], of: keyof Summed): number =>
  sumOf(items.map((item) => item[of]))

/**
 * Whether a tax or a discount of an invoice is the sum of those of its lines. Some systems round each line, others the sum, both half up:
 * that differs by at most half a minor unit for each line. Without any on its lines, it is one of the invoice as a whole.
 */
export function isSumOfLines(amount: number, items: readonly Summed[], of: keyof Summed): boolean {
  const sum = sumOfLines(items, of)
  return sum === 0 || 2 * Math.abs(amount - sum) <= items.length
}

/** Whether the amounts of an invoice follow from its line items. Some systems round each line, others round the sum. */
export function addsUp({ subtotal, tax, discount, total, lineItems }: Invoice): boolean {
  const lines = lineItems.reduce((sum, item) => sum + lineAmount(item), 0)
  return (
    total === subtotal - discount + tax &&
    lineItems.every((item) => item.total === lineAmount(item) - item.discount + item.tax) &&
    (lineItems.length === 0 || [subtotalOf(lineItems), lines].includes(subtotal)) &&
    isSumOfLines(tax, lineItems, 'tax') &&
    isSumOfLines(discount, lineItems, 'discount')
  )
}

/** Statuses that payments do not change. */
const STATUSES_UNAFFECTED_BY_PAYMENTS: readonly InvoiceStatus[] = ['draft', 'cancelled']

/** Statuses that payments determine. Without any, the clinic may still know more than its records say. */
const STATUSES_OF_PAYMENTS: readonly InvoiceStatus[] = ['partially_paid', 'paid', 'refunded']

/**
 * Returns the invoice with the effect of its payments: the paid amount is completed payments less completed refunds, and the
 * status follows once there is any. An invoice that the clinic marked as paid stays so without payments, and with a total of zero; if
 * it has some, and none counts, it is `sent`. Only the clinic sets `overdue` and `sent`, never the clock.
 */
export function applyPayments(invoice: Invoice, payments: readonly Payment[]): Invoice {
  const completed = payments.filter(({ status }) => status === 'completed')
  const paid = sumOfPayments(completed)
  const status = statusAfterPayments(invoice, payments, paid)
  const lastPaymentAt = completed
    .filter(({ type }) => type === 'payment')
    .map(({ createdAt }) => createdAt)
    .sort()
    .at(-1)
  const paidAt = invoice.clinicPaidAt ?? lastPaymentAt ?? invoice.paidAt
  return { ...invoice, paid, status, paidAt: status === 'paid' ? paidAt : null }
}

/**
 * The time of payment that no payment record states: the clinic has stated it, or it has remained on an invoice that is paid
 * without payments. {@link applyPayments} combines it with the payments.
 */
export const statedPaidAt = ({ clinicPaidAt, paidAt, paid }: Invoice): string | null =>
  clinicPaidAt ?? (paid === 0 ? paidAt : null)

function statusAfterPayments(
  { clinicStatus, total }: Invoice,
  payments: readonly Payment[],
  paid: number,
): InvoiceStatus {
  if (STATUSES_UNAFFECTED_BY_PAYMENTS.includes(clinicStatus)) return clinicStatus
  if (paid > 0) return paid >= total ? 'paid' : 'partially_paid'
  if (payments.some(({ type, status }) => type === 'refund' && status === 'completed')) return 'refunded'
  const isNothingToPay = total === 0 && clinicStatus === 'paid'
  if (payments.length === 0 || isNothingToPay || !STATUSES_OF_PAYMENTS.includes(clinicStatus))
    return clinicStatus
  return payments.some(({ status }) => status === 'refunded') ? 'refunded' : 'sent'
}
