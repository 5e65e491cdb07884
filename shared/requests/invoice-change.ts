import type * as z from 'zod'
import { renderInvoiceDetails, sizeIssue } from '../api/invoices.ts'
import { invalidFields, invoiceRejected, type updateInvoice } from '../api/new-invoice.ts'
import type { Invoice } from '../domain/money/invoice.ts'
import { InvalidAmounts } from '../domain/money/invoice-amounts.ts'
import type { InvoiceFields } from '../domain/money/invoice-changes.ts'
import type { InvoiceOutcome, InvoiceWrite, WrittenInvoice } from '../store/calendar/invoice-changes.ts'
import type { WriteRequest } from './requested-write.ts'

/** What the body of a request sets of an invoice. */
export const invoiceFields = (body: z.output<typeof updateInvoice.body>): InvoiceFields => ({
  patient: body.patient_id,
  number: body.invoice_number,
  issueDate: body.issue_date,
  dueDate: body.due_date,
  appointment: body.appointment_id,
  doctor: body.doctor_id,
  status: body.status,
  lineItems: body.line_items?.map((item) => ({
    description: item.description,
    quantity: item.quantity,
    unitPrice: item.unit_price,
    discount: item.discount_amount,
    discountRate: item.discount_rate,
    taxRate: item.tax_rate,
    doctor: item.doctor_id ?? null,
    treatment: item.treatment_id ?? null,
  })),
})

type Request = Pick<WriteRequest, 'clinic' | 'write'>

/** An issue of amounts, with the field of a request: the amounts of an invoice follow from its line items. */
const ofRequest = ({ field, issue }: InvalidAmounts['issues'][number]) =>
  field.startsWith('line_items.') ? { field, issue } : { field: 'line_items', issue: `${field} ${issue}` }

/** Creates or changes the invoice of a request, and returns the response. @throws ApiError when it is rejected */
export async function writeInvoice(
  { clinic, write }: Request,
  work: (write: InvoiceWrite) => Promise<InvoiceOutcome>,
) {
  const response = ({ invoice, payments }: WrittenInvoice) => ({
    data: renderInvoiceDetails(invoice, payments, clinic),
  })
  const check = (invoice: Invoice) => {
    const issue = sizeIssue(invoice, clinic)
    if (issue) throw invalidFields([{ field: 'line_items', issue }])
  }
  const outcome = await work({ ...write(response), check }).catch((error) => {
    throw error instanceof InvalidAmounts ? invalidFields(error.issues.map(ofRequest)) : error
  })
  if (outcome.kind !== 'done') throw invoiceRejected(outcome)
  return response(outcome)
}
