import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { CalendarDate, oneOf } from '../../../shared/api/schemas.ts'
import { currencyDecimals } from '../../../shared/domain/currencies.ts'
import type { Invoice } from '../../../shared/domain/invoice.ts'
import { parseDecimal } from '../../../shared/domain/money.ts'
import {
  PAYMENT_METHODS,
  PAYMENT_STATUSES,
  PAYMENT_TYPES,
  type Payment,
} from '../../../shared/domain/payment.ts'
import { singleLineText } from '../../../shared/domain/text-fields.ts'
import { invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { MAX_PAYMENTS, settlement } from '../../../shared/store/calendar/settlement.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import { commitPacked, type Unit } from '../../../shared/store/table/commit-packed.ts'
import { mapConcurrent } from '../../../shared/store/table/map-concurrent.ts'
import { chunked, type Table } from '../../../shared/store/table/table.ts'
import {
  definedFields,
  type ImportEntity,
  type ImportRow,
  type RowFields,
  type RowRejection,
} from './entity.ts'
import { Decimal } from './invoice-amounts.ts'
import { RowRejectedError, requirePatient } from './patient-rows.ts'
import { ExternalRef, referenceId, unknownReference } from './references.ts'
import { Instant } from './timestamps.ts'

type Fields = RowFields<Omit<Payment, 'id' | 'invoice' | 'patient' | 'amount' | 'currency'>> & {
  invoiceId: string
  /** Not parsed yet: the number of decimals depends on the invoice's currency. */
  amount: string | number
  currency: string | undefined
}

const columns = {
  invoice_external_id: ExternalRef,
  amount: Decimal,
  currency: z.string().nullish(),
  type: oneOf(PAYMENT_TYPES).nullish(),
  payment_method: oneOf(PAYMENT_METHODS),
  status: oneOf(PAYMENT_STATUSES).nullish(),
  description: singleLineText(500).nullish(),
  payment_date: CalendarDate,
  created_at: Instant.nullish(),
}

/** Invoices whose payments are read concurrently. */
const INVOICE_CONCURRENCY = 8

/** Writes payments in the transaction that updates their invoice. */
export function paymentImport(table: Table, now: () => number): ImportEntity<Fields> {
  const list = paymentStore({ table })
  const invoices = invoiceStore({ table })
  const { buildChangeset: changesOf } = settlement(table)

  const buildPayment = (
    { id, fields }: ImportRow<Fields>,
    invoice: Invoice,
    before: Payment | null,
  ): Payment => {
    const { invoiceId: _, amount, currency, ...facts } = fields
    return {
      type: 'payment',
      status: 'completed',
      description: null,
      createdAt: new Date(now()).toISOString(),
      ...before,
      ...(definedFields(facts) as Pick<Payment, 'method' | 'date'>),
      id,
      amount: amountOf(amount, currency, invoice),
      currency: invoice.currency,
      invoice: { id: invoice.id, number: invoice.number },
      patient: { id: invoice.patient.id, fullName: invoice.patient.fullName },
    }
  }

  return {
    name: 'payments',
    idKind: 'payment',
    columns: Object.keys(columns),
    required: ['invoice_external_id', 'amount', 'payment_method', 'payment_date'],
    schema: ({ id: clinic }) =>
      z.strictObject(columns).transform(
        (row): Fields => ({
          invoiceId: referenceId(clinic, 'invoice', row.invoice_external_id),
          amount: row.amount,
          currency: row.currency ?? undefined,
          type: row.type ?? undefined,
          method: row.payment_method,
          status: row.status ?? undefined,
          description: row.description,
          date: row.payment_date,
          createdAt: row.created_at ?? undefined,
        }),
      ),
    write: async ({ id: clinic }, batch) => {
      const outcome = { imported: 0, updated: 0, unchanged: 0, rejected: [] as RowRejection[] }
      const [existing, known] = await Promise.all([
        list.findMany(
          clinic,
          batch.map(({ id }) => id),
        ),
        invoices.findMany(
          clinic,
          batch.map(({ fields }) => fields.invoiceId),
        ),
      ])
      const patients = await patientStore({ table }).findMany(clinic, [
        ...new Set([...known.values()].map(({ record }) => record.patient.id)),
      ])
      const changed = batch.filter((row) => {
        const before = existing.get(row.id)?.record ?? null
        try {
          const invoice = known.get(row.fields.invoiceId)?.record
          if (!invoice) throw new RowRejectedError(unknownReference('invoice'))
          if (before && before.invoice.id !== invoice.id)
            throw new RowRejectedError('invoice_external_id cannot change')
          requirePatient(patients, invoice.patient.id)
          const unchanged = isDeepStrictEqual(before, buildPayment(row, invoice, before))
          outcome[unchanged ? 'unchanged' : before ? 'updated' : 'imported']++
          return !unchanged
        } catch (error) {
          if (!(error instanceof RowRejectedError)) throw error
          outcome.rejected.push({ id: row.id, reason: error.message })
          return false
        }
      })
      const chunks = [...Map.groupBy(changed, ({ fields }) => fields.invoiceId)].flatMap(([invoice, rows]) =>
        chunked(rows, MAX_PAYMENTS).map((chunk) => ({ invoice, chunk })),
      )
      const units = await mapConcurrent(
        INVOICE_CONCURRENCY,
        chunks,
        async ({ invoice, chunk }): Promise<Unit[]> => {
          const wanted = chunk.map((row) => ({
            id: row.id,
            build: (fresh: Invoice, before: Payment | null) => buildPayment(row, fresh, before),
          }))
          const rebuild = () => changesOf(clinic, invoice, wanted)
          const changes = await rebuild()
          return changes ? [{ changes, rebuild }] : []
        },
      )
      await commitPacked(table, clinic, units.flat())
      return outcome
    },
  }
}

/** @throws RowRejectedError unless it is a positive amount in the invoice's currency */
function amountOf(value: string | number, currency: string | undefined, invoice: Invoice): number {
  if (currency !== undefined && currency !== invoice.currency) {
    throw new RowRejectedError(`currency must be ${invoice.currency}, the currency of the invoice`)
  }
  const decimals = currencyDecimals(invoice.currency)
  const amount = parseDecimal(value, decimals)
  if (amount === null || amount <= 0) {
    throw new RowRejectedError(
      `amount must be a positive number with at most ${decimals} decimals in ${invoice.currency}`,
    )
  }
  return amount
}
