/** Creating, changing, sending and cancelling invoices. */
import * as z from 'zod'
import type { InvoiceRejection } from '../domain/money/invoice-changes.ts'
import { RATIO_DECIMALS } from '../domain/money/money.ts'
import { externalId, financeText, invoiceNumber } from '../domain/patients/text-fields.ts'
import { ApiError, unknownIds } from './errors.ts'
import { InvoiceDetails } from './invoices.ts'
import { defineRoute, type RecordReference, type Route } from './route.ts'
import { envelopeOf, NoFields, oneOf, RecordDate, sentFields, Uuid } from './schemas.ts'

const IN_REFERENCES = { id: true, status: true, paid_at: true, created_at: true, updated_at: true } as const

const reference: RecordReference = {
  schema: z.lazy(() =>
    z
      .strictObject(
        InvoiceDetails.unwrap()
          .pick({
            ...IN_REFERENCES,
            invoice_number: true,
            issue_date: true,
            due_date: true,
            appointment_id: true,
          })
          .partial()
          .required(IN_REFERENCES).shape,
      )
      .meta({
        id: 'InvoiceReference',
        description: 'Without `finance.read`, of the other fields only those that the request had.',
      }),
  ),
  // Line items have names and amounts that the request did not have.
  of: (invoice, { line_items: _, ...sent }: { readonly line_items?: unknown }) =>
    sentFields(invoice, sent, Object.keys(IN_REFERENCES)),
}

const MAX_LINE_ITEMS = 100

const Decimal = z.number({ error: 'must be a number' })

const LineItemCreate = z
  .strictObject({
    description: financeText(),
    quantity: Decimal,
    unit_price: Decimal,
    discount_amount: Decimal.optional(),
    discount_rate: Decimal.optional(),
    tax_rate: Decimal.optional(),
    doctor_id: Uuid.nullish(),
    treatment_id: Uuid.nullish(),
  })
  .refine((item) => item.discount_amount === undefined || item.discount_rate === undefined, {
    path: ['discount_rate'],
    error: 'must not be combined with discount_amount',
  })
  .meta({ id: 'LineItemCreate' })

const LineItems = z
  .array(LineItemCreate, { error: 'must be a list of line items' })
  .min(1, { error: 'must have at least one line item' })
  .max(MAX_LINE_ITEMS, { error: `must have at most ${MAX_LINE_ITEMS} line items` })

/** What a new invoice can have, and a change of a draft can set. */
const FIELDS = {
  invoice_number: invoiceNumber().optional(),
  issue_date: RecordDate.optional(),
  due_date: RecordDate.nullish(),
  appointment_id: Uuid.nullish(),
  doctor_id: Uuid.nullish(),
  status: oneOf(['draft', 'sent']).optional(),
}

const CHANGE = {
  scope: 'invoice.write',
  readScope: 'finance.read',
  response: { status: 200, body: envelopeOf(InvoiceDetails), record: { reference } },
} as const satisfies Partial<Route>

const FIELD_ERRORS = [
  'patient_not_found',
  'appointment_not_found',
  'doctor_not_found',
  'treatment_not_found',
  'invoice_number_taken',
] as const

export const createInvoice = defineRoute({
  ...CHANGE,
  id: 'create-invoice',
  method: 'POST',
  path: '/invoices',
  summary: 'Create an invoice',
  description:
    "Calculates all amounts from the line items, in the clinic's currency. Without `invoice_number`, the invoice gets the next number " +
    "of its issue date's year, such as `2026-000123`: no number is omitted, except between numbers that other invoices have, which are skipped.",
  body: z
    .strictObject({
      ...FIELDS,
      patient_id: Uuid,
      line_items: LineItems,
      external_id: externalId().optional(),
    })
    .meta({ id: 'InvoiceCreate' }),
  response: { ...CHANGE.response, status: 201, location: '/invoices' },
  errors: [...FIELD_ERRORS, 'external_id_taken'],
})

export const updateInvoice = defineRoute({
  ...CHANGE,
  id: 'update-invoice',
  method: 'PATCH',
  path: '/invoices/{id}',
  summary: 'Update an invoice',
  description:
    'Changes only the fields that are sent. `line_items` replaces all line items, and all amounts. Once the invoice is no longer a draft, ' +
    'only `due_date`, `appointment_id` and `doctor_id` can be changed.',
  params: { id: 'invoice_not_found' },
  body: z
    .strictObject({ ...FIELDS, patient_id: Uuid.optional(), line_items: LineItems.optional() })
    .meta({ id: 'InvoiceChanges' }),
  errors: [
    ...FIELD_ERRORS,
    'invoice_not_found',
    'precondition_failed',
    'invoice_closed',
    'invoice_not_draft',
    'invoice_has_payments',
  ],
})

/** The parts that both actions share. */
const ACTION = {
  ...CHANGE,
  method: 'POST',
  params: { id: 'invoice_not_found' },
  body: NoFields,
  errors: ['invoice_not_found', 'precondition_failed', 'invoice_closed'],
} as const satisfies Partial<Route>

export const sendInvoice = defineRoute({
  ...ACTION,
  id: 'send-invoice',
  path: '/invoices/{id}/send',
  summary: 'Mark an invoice as sent',
  description:
    'Makes a draft or pending invoice `sent`, so that payments of it can be recorded. Sends nothing to the patient. Any other invoice stays as ' +
    'it is, except that a cancelled one is a 409.',
})

export const cancelInvoice = defineRoute({
  ...ACTION,
  id: 'cancel-invoice',
  path: '/invoices/{id}/cancel',
  summary: 'Cancel an invoice',
  description: 'Cancels an invoice of which nothing is paid. Repeating it changes nothing.',
  errors: [...ACTION.errors, 'invoice_has_payments'],
})

/** The error for an invoice that is not created or changed. */
export function invoiceRejected(
  rejection:
    | InvoiceRejection
    | { readonly kind: 'invoice_not_found' }
    | { readonly kind: 'invoice_number_taken'; readonly holder: string },
): ApiError {
  switch (rejection.kind) {
    case 'patient_not_found':
      return unknownIds(rejection.kind, 'patient_id')
    case 'appointment_not_found':
      return unknownIds(rejection.kind, 'appointment_id')
    case 'doctor_not_found':
    case 'treatment_not_found':
      return unknownIds(rejection.kind, ...rejection.fields)
    case 'appointment_of_another_patient':
      return invalidFields([{ field: 'appointment_id', issue: 'must be an appointment of the patient' }])
    case 'invoice_not_draft':
      return new ApiError(rejection.kind, { details: rejection.fields.map((field) => ({ field })) })
    case 'invoice_number_taken':
      return new ApiError(rejection.kind, { details: [{ field: 'invoice_number', id: rejection.holder }] })
    default:
      return new ApiError(rejection.kind)
  }
}

/** The error for fields that are invalid for a reason that the schema cannot express. */
export const invalidFields = (
  details: readonly { readonly field: string; readonly issue: string }[],
): ApiError => new ApiError('validation', { details })

const NUMBER = 'unique in the clinic.'

/** What the fields mean, for the document. In no bundle, since no function of the stack calls it. */
export const newInvoiceDescriptions = () => ({
  InvoiceCreate: {
    patient_id: 'Id of the patient.',
    invoice_number: `Number, ${NUMBER} Defaults to the next one of the clinic.`,
    issue_date: "Date of issue. Defaults to today, in the clinic's time zone.",
    due_date: 'Date by which the invoice is due.',
    appointment_id: 'Id of the appointment that the invoice bills, which must be one of the patient.',
    doctor_id: 'Id of the doctor of the invoice, also of its line items without one.',
    status: '`draft` (default) or `sent`.',
    line_items: 'Line items.',
    external_id:
      'Id in another system, unique among the invoices of the clinic, imported ones included, and not the id of another one. It cannot be changed. Visible characters, with single spaces between them.',
  },
  InvoiceChanges: {
    invoice_number: `Number, ${NUMBER}`,
    issue_date: 'Date of issue.',
    due_date: 'Date by which the invoice is due. Null removes it.',
    appointment_id: 'Id of an appointment of the patient. Null removes it.',
    doctor_id: 'Id of the doctor of the invoice, also of its line items without one. Null removes it.',
    status: '`sent` sends the draft.',
    line_items: 'All line items.',
  },
  LineItemCreate: {
    description: 'What was provided.',
    quantity: `Number of units, with at most ${RATIO_DECIMALS} decimals.`,
    unit_price: "Price of one unit, before discount and tax, with the currency's decimals.",
    discount_amount: 'Discount of the whole line.',
    discount_rate: `Discount of the whole line in percent, with at most ${RATIO_DECIMALS} decimals, instead of \`discount_amount\`.`,
    tax_rate: `Tax rate in percent, with at most ${RATIO_DECIMALS} decimals. Defaults to 0.`,
    doctor_id: 'Id of the doctor who provided it. Defaults to the doctor of the invoice.',
    treatment_id: 'Id of the treatment that was provided.',
  },
})
