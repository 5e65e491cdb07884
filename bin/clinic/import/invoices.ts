import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { renderInvoice } from '../../../shared/api/invoices.ts'
import { oneOf } from '../../../shared/api/schemas.ts'
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import { CURRENCIES } from '../../../shared/domain/currencies.ts'
import { applyPayments, INVOICE_STATUSES, type Invoice } from '../../../shared/domain/invoice.ts'
import { fullName } from '../../../shared/domain/patient.ts'
import { singleLineText } from '../../../shared/domain/text-fields.ts'
import { lineItemId } from '../../../shared/domain/uuid.ts'
import { invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import type { ImportIds } from '../../../shared/store/import-ids.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import type { ImportEntity, RowFields } from './entity.ts'
import { type Amounts, Decimal, invoiceAmounts, LineItems } from './invoice-amounts.ts'
import { RowRejectedError, writePatientRows } from './patient-rows.ts'
import { ExternalRef } from './references.ts'
import { Instant, RowRecordDate } from './timestamps.ts'

/** `status` and `paid` follow from the payments. */
type Fields = Amounts &
  RowFields<Omit<Invoice, keyof Amounts | 'id' | 'patient' | 'status' | 'paid'>> &
  Pick<Invoice, 'number' | 'issueDate' | 'currency'> & { patient: string }

const columns = {
  patient_external_id: ExternalRef,
  invoice_number: singleLineText(100),
  status: oneOf(INVOICE_STATUSES).nullish(),
  issue_date: RowRecordDate,
  due_date: RowRecordDate.nullish(),
  paid_at: Instant.nullish(),
  currency: z.enum(CURRENCIES, { error: 'must be an ISO 4217 code such as EUR' }).nullish(),
  subtotal: Decimal.nullish(),
  tax_amount: Decimal.nullish(),
  discount_amount: Decimal.nullish(),
  total_amount: Decimal.nullish(),
  // Accepted because exports of the API have them, but not used: they are computed from the payments.
  paid_amount: z.unknown().optional(),
  balance_due: z.unknown().optional(),
  line_items: LineItems.nullish(),
  created_at: Instant.nullish(),
}

/** The paid amount and the status that depends on it are computed from the payments, not read from the file. */
export function invoiceImport(table: Table, now: () => number): ImportEntity<Fields> {
  const list = invoiceStore({ table })
  const payments = paymentStore({ table })

  const fieldsOf = (clinic: ClinicInfo, _now: number, idOf: ImportIds) =>
    z.strictObject(columns).transform((row, context): Fields => {
      const currency = row.currency ?? clinic.currency
      return {
        patient: idOf('patient', row.patient_external_id),
        number: row.invoice_number,
        clinicStatus: row.status ?? undefined,
        issueDate: row.issue_date,
        dueDate: row.due_date,
        paidAt: row.paid_at,
        currency,
        createdAt: row.created_at ?? undefined,
        ...invoiceAmounts(row, currency, context),
      }
    })

  return {
    name: 'invoices',
    idKind: 'invoice',
    columns: Object.keys(columns),
    required: ['patient_external_id', 'invoice_number', 'issue_date'],
    unique: ['invoice_number'],
    isStatedPaid: ({ fields: { clinicStatus, total } }) => clinicStatus === 'paid' && total > 0,
    schema: fieldsOf,
    write: (clinic, batch, outcomes) =>
      writePatientRows(
        { table, list, clinic },
        batch,
        outcomes,
        async () =>
          async ({ id, fields }, patient, before) => {
            const { number, issueDate, currency, subtotal, tax, discount, total } = fields
            const invoice: Invoice = {
              id,
              number,
              issueDate,
              currency,
              subtotal,
              tax,
              discount,
              total,
              clinicStatus: fields.clinicStatus ?? before?.clinicStatus ?? 'sent',
              dueDate: fields.dueDate === undefined ? (before?.dueDate ?? null) : fields.dueDate,
              paidAt: fields.paidAt === undefined ? (before?.paidAt ?? null) : fields.paidAt,
              createdAt: fields.createdAt ?? before?.createdAt ?? new Date(now()).toISOString(),
              // settled() computes these from the payments.
              status: before?.status ?? 'sent',
              paid: before?.paid ?? 0,
              patient: { id: patient.id, fullName: fullName(patient), email: patient.emailAddress },
              lineItems: fields.lineItems.map((item, at) => ({
                ...item,
                id: lineItemId(id, at),
              })),
            }
            if (before && isDeepStrictEqual(before, invoice)) return before
            const paid = before ? await payments.allOf(clinic.id, 'invoice', id) : []
            if (before && paid.length > 0) checkCopies(before, invoice)
            const settled = applyPayments(invoice, paid)
            checkSize(settled, clinic)
            return settled
          },
      ),
  }
}

/** As a page of 100 invoices must fit into a response of a Lambda function, which has at most 6 MB. */
const MAX_RENDERED_KB = 48

/** In the response of a function, the body is a string within JSON: quotes and backslashes are escaped once more. */
const MAX_ESCAPED_KB = 60

/** @throws RowRejectedError for an invoice that is too large to be listed */
function checkSize(invoice: Invoice, clinic: ClinicInfo): void {
  const rendered = JSON.stringify(renderInvoice({ ...invoice, updatedAt: invoice.createdAt }, clinic))
  const isTooLarge =
    Buffer.byteLength(rendered) > MAX_RENDERED_KB * 1024 ||
    Buffer.byteLength(JSON.stringify(rendered)) > MAX_ESCAPED_KB * 1024
  if (isTooLarge)
    throw new RowRejectedError(
      `the invoice is too large: at most ${MAX_RENDERED_KB} KB as JSON, ${MAX_ESCAPED_KB} KB with escaped quotes`,
    )
}

/** Payments copy their invoice's number and patient, so an invoice with payments cannot change them. */
function checkCopies(before: Invoice, after: Invoice): void {
  if (before.number !== after.number)
    throw new RowRejectedError('invoice_number cannot change once there are payments')
  if (before.patient.id !== after.patient.id) {
    throw new RowRejectedError('patient_external_id cannot change once there are payments')
  }
}
