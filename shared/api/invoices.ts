import * as z from 'zod'
import type { ClinicInfo } from '../domain/clinic.ts'
import {
  INVOICE_STATUSES,
  type Invoice as InvoiceRecord,
  type LineItem as LineItemRecord,
} from '../domain/money/invoice.ts'
import { RATIO_DECIMALS, renderDecimal, renderMoney } from '../domain/money/money.ts'
import type { Payment as PaymentRecord } from '../domain/money/payment.ts'
import { text } from '../domain/patients/text-fields.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import { expandPatient, Patient } from './patients.ts'
import { Payment, renderPayment } from './payments.ts'
import { order, recordListOf, recordListQuery } from './record-lists.ts'
import { defineRoute } from './route.ts'
import {
  CalendarDate,
  CatalogueReference,
  envelopeOf,
  oneOf,
  PersonRef,
  renderCatalogueReference,
  renderPersonRef,
  requiredRange,
  someOf,
  Timestamp,
  Uuid,
  validDateRange,
} from './schemas.ts'

const LineItem = z.lazy(() =>
  z
    .strictObject({
      id: Uuid,
      description: z.string(),
      quantity: z.number(),
      unit_price: z.number(),
      discount_amount: z.number(),
      tax_rate: z.number(),
      tax_amount: z.number(),
      total_amount: z.number(),
      doctor: PersonRef.nullable(),
      treatment: CatalogueReference.nullable(),
    })
    .meta({ id: 'LineItem' }),
)

const InvoicePatient = z.lazy(() =>
  z
    .strictObject({ ...PersonRef.unwrap().shape, email: z.string().nullable() })
    .meta({ id: 'InvoicePatient' }),
)

/** An invoice as the API returns it. Amounts have the currency's decimals. */
export const Invoice = z.lazy(() =>
  z
    .strictObject({
      id: Uuid,
      invoice_number: z.string(),
      status: oneOf(INVOICE_STATUSES),
      issue_date: CalendarDate,
      due_date: CalendarDate.nullable(),
      paid_at: Timestamp.nullable(),
      currency: z.string().length(3),
      subtotal: z.number(),
      tax_amount: z.number(),
      discount_amount: z.number(),
      total_amount: z.number(),
      paid_amount: z.number(),
      balance_due: z.number(),
      patient: InvoicePatient,
      appointment_id: Uuid.nullable(),
      doctor: PersonRef.nullable(),
      line_items: z.array(LineItem),
      created_at: Timestamp,
      updated_at: Timestamp,
    })
    .meta({ id: 'Invoice' }),
)

export function renderInvoice(
  invoice: WithUpdatedAt<InvoiceRecord>,
  clinic: ClinicInfo,
): z.input<typeof Invoice> {
  return {
    id: invoice.id,
    invoice_number: invoice.number,
    status: invoice.status,
    issue_date: invoice.issueDate,
    due_date: invoice.dueDate,
    paid_at: invoice.paidAt && clinicTimestamp(invoice.paidAt, clinic.timezone),
    currency: invoice.currency,
    ...renderInvoiceAmounts(invoice),
    patient: { ...renderPersonRef(invoice.patient), email: invoice.patient.email },
    appointment_id: invoice.appointmentId,
    doctor: invoice.doctor && renderPersonRef(invoice.doctor),
    line_items: invoice.lineItems.map((item) => renderLineItem(item, invoice.currency)),
    created_at: clinicTimestamp(invoice.createdAt, clinic.timezone),
    updated_at: clinicTimestamp(invoice.updatedAt, clinic.timezone),
  }
}

/** The amounts of an invoice, in responses and files. */
export function renderInvoiceAmounts(invoice: InvoiceRecord) {
  const money = (minor: number) => renderMoney(minor, invoice.currency)
  return {
    subtotal: money(invoice.subtotal),
    tax_amount: money(invoice.tax),
    discount_amount: money(invoice.discount),
    total_amount: money(invoice.total),
    paid_amount: money(invoice.paid),
    balance_due: money(invoice.total - invoice.paid),
  }
}

/** A page of 100 invoices must fit into a response of a Lambda function, which has at most 6 MB. */
const MAX_RENDERED_KB = 48

/** The body of a response is a string within JSON: quotes and backslashes are escaped once more. */
const MAX_ESCAPED_KB = 60

/** What is wrong with an invoice that is too large to be listed; null for any other. */
export function sizeIssue(invoice: InvoiceRecord, clinic: ClinicInfo): string | null {
  const rendered = JSON.stringify(renderInvoice({ ...invoice, updatedAt: invoice.createdAt }, clinic))
  const isTooLarge =
    Buffer.byteLength(rendered) > MAX_RENDERED_KB * 1024 ||
    Buffer.byteLength(JSON.stringify(rendered)) > MAX_ESCAPED_KB * 1024
  return isTooLarge
    ? `is too large: at most ${MAX_RENDERED_KB} KB as JSON, ${MAX_ESCAPED_KB} KB with escaped quotes`
    : null
}

/** What a line item says and costs, in responses and files. */
export const renderLineItemFacts = (item: LineItemRecord, currency: string) => ({
  description: item.description,
  quantity: renderDecimal(item.quantity, RATIO_DECIMALS),
  unit_price: renderMoney(item.unitPrice, currency),
  discount_amount: renderMoney(item.discount, currency),
  tax_rate: renderDecimal(item.taxRate, RATIO_DECIMALS),
  tax_amount: renderMoney(item.tax, currency),
  total_amount: renderMoney(item.total, currency),
})

const renderLineItem = (item: LineItemRecord, currency: string): z.input<typeof LineItem> => ({
  id: item.id,
  ...renderLineItemFacts(item, currency),
  doctor: item.doctor && renderPersonRef(item.doctor),
  treatment: item.treatment && renderCatalogueReference(item.treatment),
})

/** With `expand`, the patient also has what lists of patients show. */
const ExpandableInvoice = z.lazy(() =>
  z
    .strictObject({
      ...Invoice.unwrap().shape,
      patient: z.union([
        InvoicePatient,
        Patient.unwrap().extend(InvoicePatient.unwrap().shape).meta({ id: 'ExpandedInvoicePatient' }),
      ]),
    })
    .meta({ id: 'ExpandableInvoice' }),
)

export const listInvoices = defineRoute({
  id: 'list-invoices',
  method: 'GET',
  path: '/invoices',
  summary: 'List invoices',
  description:
    'Sorted by issue date, newest first by default. Filters can be combined. `from` and `to` filter by issue date and are inclusive. ' +
    'Filtering by an unknown id returns an empty list. Amounts are numbers in units of the currency, exact to its decimals.',
  scope: 'finance.read',
  parameterScopes: expandPatient.scopes,
  query: recordListQuery({
    ...expandPatient.parameters(),
    patient_id: Uuid.optional(),
    invoice_number: text(100).trim().optional(),
    appointment_id: Uuid.optional(),
    doctor_id: Uuid.optional(),
    status: someOf(INVOICE_STATUSES).optional(),
    from: CalendarDate.optional(),
    to: CalendarDate.optional(),
    order: order(),
  })
    .refine(...validDateRange('from', 'to'))
    .refine(...requiredRange('appointment_id', 'from', 'to'))
    .refine(...requiredRange('doctor_id', 'from', 'to')),
  response: { status: 200, body: recordListOf(ExpandableInvoice) },
  errors: ['invalid_cursor', 'range_required'],
})

/** The filter of the list, from the parameters of a query. */
export const invoiceFilter = (query: z.output<typeof listInvoices.query>) => ({
  patient: query.patient_id,
  number: query.invoice_number,
  appointment: query.appointment_id,
  billedDoctor: query.doctor_id,
  facets: query.status,
  from: query.from,
  to: query.to,
  order: query.order,
})

const InvoiceWithPayments = z.lazy(() =>
  z
    .strictObject({ ...ExpandableInvoice.unwrap().shape, payments: z.array(Payment) })
    .meta({ id: 'InvoiceWithPayments' }),
)

/** One invoice, as changes return it: as GET does without `expand`. */
export const InvoiceDetails = z.lazy(() =>
  z.strictObject({ ...Invoice.unwrap().shape, payments: z.array(Payment) }).meta({ id: 'InvoiceDetails' }),
)

/** An invoice with its payments, newest first. */
export const renderInvoiceDetails = (
  invoice: WithUpdatedAt<InvoiceRecord>,
  payments: readonly WithUpdatedAt<PaymentRecord>[],
  clinic: ClinicInfo,
): z.input<typeof InvoiceDetails> => ({
  ...renderInvoice(invoice, clinic),
  payments: payments.map((payment) => renderPayment(payment, clinic)),
})

export const getInvoice = defineRoute({
  id: 'get-invoice',
  method: 'GET',
  path: '/invoices/{id}',
  summary: 'Retrieve an invoice',
  description: 'Returns the invoice with its payments.',
  scope: 'finance.read',
  parameterScopes: expandPatient.scopes,
  params: { id: 'invoice_not_found' },
  query: z.strictObject(expandPatient.parameters()),
  response: {
    status: 200,
    body: envelopeOf(InvoiceWithPayments),
    record: {},
  },
  errors: ['invoice_not_found'],
})

const ROUNDED_ONCE =
  'Can differ from the sum of the lines by half a minor unit for each line: it may be rounded once. Belongs to the invoice as a whole if no line has any.'

const NAME_OF_LAST_CHANGE = 'The name is that of the last change of the invoice.'

/** What the fields mean, for the document. In no bundle, since no function of the stack calls it. */
export const invoiceDescriptions = () => ({
  Invoice: {
    status:
      'Payments determine the status once there are any: `partially_paid`, `paid` (they cover `total_amount`) or `refunded` (all of it was returned). The clinic sets the others: `draft`, `pending`, `sent`, `overdue` and `cancelled`; payments do not change `draft` and `cancelled`. An invoice does not become `overdue` automatically.',
    issue_date: 'Date of issue.',
    due_date: 'Date by which the invoice is due. Null if none is set.',
    paid_at:
      'When the invoice was paid in full. Null unless `status` is `paid`, or if the time is not known.',
    subtotal: 'Sum of quantity times unit price of the line items, before discount and tax.',
    tax_amount: `Tax of the whole invoice. Included in \`total_amount\`. ${ROUNDED_ONCE}`,
    discount_amount: `Discount of the whole invoice. Deducted in \`total_amount\`. ${ROUNDED_ONCE}`,
    total_amount: 'Amount to pay, discount and tax included: `subtotal - discount_amount + tax_amount`.',
    paid_amount: 'Completed payments minus completed refunds.',
    balance_due: 'Always `total_amount - paid_amount`. Negative if too much was paid.',
    patient: 'The patient. With `expand=patient`, all fields that `GET /patients` shows.',
    appointment_id: 'Id of the appointment that the invoice bills. Null if none is known.',
    doctor: `Doctor of the invoice. ${NAME_OF_LAST_CHANGE} Null if none is known.`,
    line_items: 'Line items, in the order of the invoice. Can be empty.',
    payments: 'All payments and refunds of the invoice.',
  },
  InvoicePatient: { email: 'Email address of the patient. Null if none is stored.' },
  LineItem: {
    description: 'What was provided.',
    quantity: 'Number of units. Can have decimals.',
    unit_price: 'Price of one unit, before discount and tax.',
    discount_amount: 'Discount of the whole line.',
    tax_rate: 'Tax rate in percent.',
    tax_amount: 'Tax of the whole line.',
    total_amount: 'Amount of the line: `quantity * unit_price - discount_amount + tax_amount`.',
    doctor: `Doctor who provided it: that of the invoice, unless the line has another. ${NAME_OF_LAST_CHANGE} Null if none is known.`,
    treatment: `Treatment that was provided. ${NAME_OF_LAST_CHANGE} Null if none is known.`,
  },
})
