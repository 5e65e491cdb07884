/** Recording and voiding payments. */
import * as z from 'zod'
import { renderMoney } from '../domain/money/money.ts'
import { PAYMENT_METHODS, PAYMENT_TYPES } from '../domain/money/payment.ts'
import type { PaymentRejection } from '../domain/money/payment-rules.ts'
import { financeText } from '../domain/patients/text-fields.ts'
import { ApiError } from './errors.ts'
import { PaymentDetails } from './payments.ts'
import { defineRoute, type RecordReference } from './route.ts'
import { envelopeOf, oneOf, RecordDate, sentFields, Uuid } from './schemas.ts'

const IN_REFERENCES = { id: true, status: true, voided_at: true, created_at: true, updated_at: true } as const

const reference: RecordReference = {
  schema: z.lazy(() =>
    z
      .strictObject(
        PaymentDetails.unwrap().omit({ void_reason: true }).partial().required(IN_REFERENCES).shape,
      )
      .meta({
        id: 'PaymentReference',
        description: 'Without `finance.read`, of the other fields only those that the request had.',
      }),
  ),
  of: (payment, sent) => sentFields(payment, sent, Object.keys(IN_REFERENCES)),
}

const change = {
  method: 'POST',
  scope: 'finance.write',
  readScope: 'finance.read',
} as const

export const createPayment = defineRoute({
  ...change,
  id: 'create-payment',
  path: '/payments',
  summary: 'Record a payment',
  description:
    'Records that a payment or a refund of an invoice was completed, and changes the balance and the status of the invoice. A payment is ' +
    'at most `balance_due`; a refund at most what was paid, less refunds that are pending. Send an `idempotency-key`: a payment has no ' +
    'external id.',
  body: z
    .strictObject({
      invoice_id: Uuid,
      amount: z.number({ error: 'must be a number' }).positive({ error: 'must be positive' }),
      payment_method: oneOf(PAYMENT_METHODS),
      type: oneOf(PAYMENT_TYPES).optional(),
      payment_date: RecordDate.optional(),
      description: financeText().nullish(),
    })
    .meta({ id: 'PaymentCreate' }),
  response: { status: 201, body: envelopeOf(PaymentDetails), record: { reference }, location: '/payments' },
  errors: ['invoice_not_found', 'invoice_closed', 'amount_exceeds_balance', 'amount_exceeds_paid'],
})

export const voidPayment = defineRoute({
  ...change,
  id: 'void-payment',
  path: '/payments/{id}/void',
  summary: 'Void a payment',
  description:
    'Takes back a payment or refund that was recorded by mistake: its status becomes `failed`, and it no longer counts. Changes nothing if it ' +
    'has failed already.',
  params: { id: 'payment_not_found' },
  body: z.strictObject({ reason: financeText().nullish() }).meta({ id: 'PaymentVoid' }),
  response: { status: 200, body: envelopeOf(PaymentDetails), record: { reference } },
  errors: ['payment_not_found', 'payment_refunded'],
})

/** An amount that is too large, in the `details` of a 422. */
export const AmountIssue = z
  .strictObject({ field: z.literal('amount'), issue: z.string(), maximum: z.number().optional() })
  .meta({ id: 'AmountIssue' })

/** The error for a payment that is not recorded or voided. Only who may read invoices gets to know the maximum. */
export function paymentRejected(rejection: PaymentRejection, currency: string, mayRead = true): ApiError {
  if (!('maximum' in rejection)) return new ApiError(rejection.kind)
  if (!mayRead) return new ApiError(rejection.kind, { details: [{ field: 'amount', issue: 'is too large' }] })
  const maximum = renderMoney(rejection.maximum, currency)
  return new ApiError(rejection.kind, {
    details: [{ field: 'amount', issue: `must be at most ${maximum} ${currency}`, maximum }],
  })
}

/** What the fields mean, for the document. In no bundle, since no function of the stack calls it. */
export const newPaymentDescriptions = () => ({
  PaymentCreate: {
    invoice_id: 'Id of the invoice.',
    amount: "Amount, positive, with the currency's decimals.",
    payment_method: 'How it was paid.',
    type: '`payment` to the clinic (default), or `refund` to the patient.',
    payment_date:
      "Date of the payment, in the clinic's time zone. Defaults to today, and must not be in the future.",
    description: 'Description.',
  },
  PaymentVoid: {
    reason: 'Why the payment is voided. A payment that has failed already keeps what it has.',
  },
  AmountIssue: {
    field: 'Always `amount`.',
    issue: 'What is wrong with it, in English. Intended for developers.',
    maximum: "The largest possible amount, with the currency's decimals. Absent without `finance.read`.",
  },
})
