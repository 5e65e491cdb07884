import * as z from 'zod'
import type { ClinicInfo } from '../domain/clinic.ts'
import { renderMoney } from '../domain/money/money.ts'
import {
  PAYMENT_METHODS,
  PAYMENT_STATUSES,
  PAYMENT_TYPES,
  type Payment as PaymentRecord,
} from '../domain/money/payment.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import { order, recordListOf, recordListQuery } from './record-lists.ts'
import { defineRoute } from './route.ts'
import {
  CalendarDate,
  envelopeOf,
  oneOf,
  PersonRef,
  pageOf,
  paging,
  renderPersonRef,
  someOf,
  Timestamp,
  Uuid,
  validDateRange,
} from './schemas.ts'

/** A payment or a refund. The amount is positive for both. */
export const Payment = z.lazy(() =>
  z
    .strictObject({
      id: Uuid,
      invoice_id: Uuid,
      invoice_number: z.string(),
      patient: PersonRef,
      amount: z.number(),
      currency: z.string().length(3),
      type: oneOf(PAYMENT_TYPES),
      payment_method: oneOf(PAYMENT_METHODS),
      status: oneOf(PAYMENT_STATUSES),
      description: z.string().nullable(),
      payment_date: CalendarDate,
      voided_at: Timestamp.nullable(),
      created_at: Timestamp,
      updated_at: Timestamp,
    })
    .meta({ id: 'Payment' }),
)

export const renderPayment = (
  payment: WithUpdatedAt<PaymentRecord>,
  clinic: ClinicInfo,
): z.input<typeof Payment> => ({
  id: payment.id,
  invoice_id: payment.invoice.id,
  invoice_number: payment.invoice.number,
  patient: renderPersonRef(payment.patient),
  amount: renderMoney(payment.amount, payment.currency),
  currency: payment.currency,
  type: payment.type,
  payment_method: payment.method,
  status: payment.status,
  description: payment.description,
  payment_date: payment.date,
  voided_at: payment.voidedAt && clinicTimestamp(payment.voidedAt, clinic.timezone),
  created_at: clinicTimestamp(payment.createdAt, clinic.timezone),
  updated_at: clinicTimestamp(payment.updatedAt, clinic.timezone),
})

/** One payment, as it is returned by itself. */
export const PaymentDetails = z.lazy(() =>
  z
    .strictObject({ ...Payment.unwrap().shape, void_reason: z.string().nullable() })
    .meta({ id: 'PaymentDetails' }),
)

export const renderPaymentDetails = (
  payment: WithUpdatedAt<PaymentRecord>,
  clinic: ClinicInfo,
): z.input<typeof PaymentDetails> => ({
  ...renderPayment(payment, clinic),
  void_reason: payment.voidReason,
})

/** Filters of every list of payments. */
const filters = () => ({
  status: someOf(PAYMENT_STATUSES).optional(),
  from: CalendarDate.optional(),
  to: CalendarDate.optional(),
  order: order(),
})

export const listPayments = defineRoute({
  id: 'list-payments',
  method: 'GET',
  path: '/payments',
  summary: 'List payments',
  description:
    'Lists payments and refunds, sorted by payment date, newest first by default. Filters can be combined. `from` and `to` filter by ' +
    'payment date and are inclusive. Filtering by an unknown id returns an empty list.',
  scope: 'finance.read',
  query: recordListQuery({
    patient_id: Uuid.optional(),
    invoice_id: Uuid.optional(),
    ...filters(),
  }).refine(...validDateRange('from', 'to')),
  response: { status: 200, body: recordListOf(Payment) },
  errors: ['invalid_cursor'],
})

/** The filter of the list, from the parameters of a query. */
export const paymentFilter = ({
  patient_id: patient,
  invoice_id: invoice,
  status: facets,
  from,
  to,
  order,
}: z.output<typeof listPayments.query>) => ({ patient, invoice, facets, from, to, order })

export const listInvoicePayments = defineRoute({
  id: 'list-invoice-payments',
  method: 'GET',
  path: '/invoices/{id}/payments',
  summary: 'List payments of an invoice',
  description: 'Like `GET /payments` with `invoice_id`, by page number only. An unknown invoice is a 404.',
  scope: 'finance.read',
  params: { id: 'invoice_not_found' },
  query: z.strictObject({ ...paging(), ...filters() }).refine(...validDateRange('from', 'to')),
  response: { status: 200, body: pageOf(Payment) },
  errors: ['invoice_not_found'],
})

export const getPayment = defineRoute({
  id: 'get-payment',
  method: 'GET',
  path: '/payments/{id}',
  summary: 'Retrieve a payment',
  scope: 'finance.read',
  params: { id: 'payment_not_found' },
  response: { status: 200, body: envelopeOf(PaymentDetails), record: {} },
  errors: ['payment_not_found'],
})
