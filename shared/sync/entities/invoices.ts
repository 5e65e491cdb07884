import type * as z from 'zod'
import { sizeIssue } from '../../api/invoices.ts'
import { oneOf } from '../../api/schemas.ts'
import { applyPayments, INVOICE_STATUSES, type Invoice, withDoctor } from '../../domain/money/invoice.ts'
import { type Amounts, type GivenAmounts, invoiceAmounts } from '../../domain/money/invoice-amounts.ts'
import { fullName } from '../../domain/patients/patient.ts'
import { invoiceNumber } from '../../domain/patients/text-fields.ts'
import { lineItemId } from '../../domain/uuid.ts'
import { takeNumber } from '../../store/calendar/invoice-numbers.ts'
import { INVOICES, invoiceStore } from '../../store/calendar/invoices.ts'
import { paymentStore } from '../../store/calendar/payments.ts'
import { takenNumberKey } from '../../store/keys/calendar.ts'
import type { Table } from '../../store/table/table.ts'
import type { RefIds } from '../external-ids/resolve-references.ts'
import { RowRejectedError } from '../outcomes/row-rejected.ts'
import { currencyCode } from './catalogue-fields.ts'
import { columnTable, defaulted, nullable, nullableReference, reference, required } from './columns.ts'
import type { ImportEntity, RowFields } from './entity.ts'
import { readCare } from './invoice-care.ts'
import { Decimal, type LineItemCells, LineItems, readLineItems } from './line-item-cells.ts'
import type { Lookups } from './lookups.ts'
import { writePatientRows } from './patient-rows.ts'
import { Instant, RowRecordDate } from './row-fields.ts'

/** `status` and `paid` follow from the payments. The amounts are read once the currency is known. */
type Fields = RowFields<
  Omit<Invoice, keyof Amounts | 'id' | 'patient' | 'doctor' | 'status' | 'paid' | 'paidAt'>
> &
  Pick<Invoice, 'number' | 'issueDate'> &
  Omit<GivenAmounts, 'lineItems'> & {
    readonly patient: string
    readonly doctor: string | null | undefined
    readonly lineItems: readonly LineItemCells[] | undefined
  }

const columns = columnTable({
  patient_external_id: reference('patient', 'patient'),
  invoice_number: required('number', invoiceNumber()),
  status: defaulted('clinicStatus', oneOf(INVOICE_STATUSES)),
  issue_date: required('issueDate', RowRecordDate),
  due_date: nullable('dueDate', RowRecordDate),
  paid_at: nullable('clinicPaidAt', Instant),
  currency: defaulted('currency', currencyCode),
  subtotal: nullable('subtotal', Decimal),
  tax_amount: nullable('tax', Decimal),
  discount_amount: nullable('discount', Decimal),
  total_amount: nullable('total', Decimal),
  // Accepted because exports of the API have them, but not used: they are computed from the payments.
  paid_amount: { cell: Decimal.nullish() },
  balance_due: { cell: Decimal.nullish() },
  appointment_external_id: nullableReference('appointmentId', 'appointment'),
  doctor_external_id: nullableReference('doctor', 'doctor'),
  line_items: {
    ...nullable('lineItems', LineItems),
    read: (items: z.output<typeof LineItems> | null | undefined, idOf: RefIds) =>
      items === null ? [] : items && readLineItems(items, idOf),
    // Without references, as before line items had any: those that an import has left are compared with their digests.
    compared: (items: Invoice['lineItems']) =>
      items.map(({ id: _, hasOwnDoctor: __, doctor, treatment, ...item }) => ({
        ...item,
        doctor: doctor?.id,
        treatment: treatment?.id,
      })),
  },
  created_at: defaulted('createdAt', Instant),
})

/** The status and the time of payment are those that the clinic has set: payments do not change them. */
export const { cells: invoiceCells, valuesOf: invoiceValues } = columns

/** The paid amount and the status that depends on it are computed from the payments, not read from the file. */
export function invoiceImport(table: Table, now: () => number, lookups: Lookups): ImportEntity<Fields> {
  const list = invoiceStore({ table })
  const payments = paymentStore({ table })
  return {
    name: 'invoices',
    idKind: 'invoice',
    ...columns,
    write: (run, batch) =>
      writePatientRows(
        {
          table,
          entityCode: INVOICES.entityCode,
          list,
          valuesOf: invoiceValues,
          accept: async (row, before, changes, isRepeated) => {
            // A number that its invoice has already is not checked again.
            const { number } = row.fields
            if (before?.number.normalize() === number || run.allowSameNumbers) return
            const leftOver = isRepeated ? await table.get(takenNumberKey(run.clinic.id, number)) : undefined
            const other = await lookups.holderOf(run.clinic.id, number, row.id, isRepeated)
            if (other !== null)
              throw new RowRejectedError(
                { field: 'invoice_number', issue: 'invoice_number_taken' },
                `invoice_number is the number of invoice ${other}; import the row with --allow-same-numbers if both are right`,
              )
            lookups.addNumber(number, row.id)
            takeNumber(changes, number, row.id, leftOver)
          },
        },
        run,
        batch,
        async (rows) => {
          const careOf = await readCare(table, run.clinic.id, rows)
          return async (row, patient, before) => {
            const { id, fields, columnOf } = row
            const paid = before ? await payments.allOf(run.clinic.id, 'invoice', id) : []
            const currency = fields.currency ?? before?.currency ?? run.clinic.currency
            if (before && paid.length > 0)
              checkCopies(before, { number: fields.number, patient, currency }, columnOf)
            const { lineItems: items, doctor, hasMoved, ...care } = careOf(row, before)
            const { lineItems, ...amounts } = invoiceAmounts(
              { ...fields, lineItems: items },
              currency,
              before,
            )
            const invoice: Invoice = {
              ...before,
              id,
              number: before?.number.normalize() === fields.number ? before.number : fields.number,
              issueDate: fields.issueDate,
              currency,
              ...amounts,
              ...care,
              doctor: before?.doctor ?? null,
              clinicStatus: fields.clinicStatus ?? before?.clinicStatus ?? 'sent',
              dueDate: fields.dueDate === undefined ? (before?.dueDate ?? null) : fields.dueDate,
              clinicPaidAt:
                fields.clinicPaidAt === undefined ? (before?.clinicPaidAt ?? null) : fields.clinicPaidAt,
              createdAt: fields.createdAt ?? before?.createdAt ?? new Date(now()).toISOString(),
              // applyPayments() computes these.
              status: 'sent',
              paid: 0,
              paidAt: before?.paidAt ?? null,
              patient: { id: patient.id, fullName: fullName(patient), email: patient.emailAddress },
              lineItems: lineItems.map((item, at) => ({ id: lineItemId(id, at), ...item })),
            }
            const settled = applyPayments(withDoctor(invoice, doctor), paid)
            const issue = sizeIssue(settled, run.clinic)
            if (issue) throw new RowRejectedError({ field: '', issue: `the invoice ${issue}` })
            const isLowered = before && settled.total < Math.min(before.total, settled.paid)
            const appointment = columnOf('appointment_external_id')
            run.outcomes.warned(
              id,
              isLowered ? { kind: 'value', field: 'total_amount', issue: 'is less than what is paid' } : null,
              hasMoved ? { kind: 'value', field: appointment, issue: 'has moved to another patient' } : null,
            )
            return settled
          }
        },
      ),
  }
}

type Copied = Pick<Invoice, 'number' | 'currency'> & { readonly patient: Pick<Invoice['patient'], 'id'> }

/** Payments copy their invoice's number, patient and currency, so an invoice with payments cannot change them. */
function checkCopies(before: Copied, after: Copied, columnOf: (name: string) => string): void {
  const reject = (column: string) => {
    throw new RowRejectedError({ field: column, issue: 'cannot change once there are payments' })
  }
  if (before.number.normalize() !== after.number) reject('invoice_number')
  if (before.patient.id !== after.patient.id) reject(columnOf('patient_external_id'))
  if (before.currency !== after.currency) reject('currency')
}
