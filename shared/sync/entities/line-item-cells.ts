/** Cells with decimals, and with the line items of an imported invoice. */
import * as z from 'zod'
import type { GivenLine } from '../../domain/money/invoice-amounts.ts'
import { financeText } from '../../domain/patients/text-fields.ts'
import { OwnRef, parseJson, RecordRef, type RefIds } from '../external-ids/resolve-references.ts'
import { rowText } from './row-fields.ts'

/** A decimal number in JSON or CSV. The number of decimals is checked once the currency is known. */
export const Decimal = z.union([z.number(), z.string().trim()], { error: 'must be a number' })

const LineItemRow = z
  .strictObject(
    {
      // Accepted because exports of the API have it, but not used: line item ids are derived from the invoice's id.
      id: Decimal.nullish(),
      description: rowText(financeText()),
      quantity: Decimal.nullish(),
      unit_price: Decimal,
      discount_amount: Decimal.nullish(),
      discount_rate: Decimal.nullish(),
      tax_rate: Decimal.nullish(),
      tax_amount: Decimal.nullish(),
      total_amount: Decimal.nullish(),
      doctor_external_id: RecordRef.nullish(),
      doctor_id: OwnRef.nullish(),
      treatment_external_id: RecordRef.nullish(),
      treatment_id: OwnRef.nullish(),
    },
    { error: 'must be an object with description and unit_price' },
  )
  .check(
    ...(['doctor', 'treatment'] as const).map((kind) =>
      z.refine<Readonly<Record<string, unknown>>>(
        (row) => row[`${kind}_id`] == null || row[`${kind}_external_id`] == null,
        { path: [`${kind}_id`], error: `must not be combined with ${kind}_external_id` },
      ),
    ),
  )

const MAX_LINE_ITEMS = 200

/** Line items: a list in NDJSON, a JSON array in a CSV cell. */
export const LineItems = z.preprocess(
  (value) => (typeof value === 'string' ? parseJson(value) : value),
  z
    .array(LineItemRow, { error: 'must be a JSON array of line items' })
    .max(MAX_LINE_ITEMS, { error: `must have at most ${MAX_LINE_ITEMS} line items` }),
)

export type LineItemCells = Omit<GivenLine, 'doctor' | 'treatment'> &
  Record<'doctor' | 'treatment', string | null>

/** Line items as they were read, with the ids of the records that they refer to. */
export const readLineItems = (items: z.output<typeof LineItems>, idOf: RefIds) =>
  items.map((item): LineItemCells => {
    const { doctor_external_id, doctor_id, treatment_external_id, treatment_id } = item
    const [doctor, treatment] = [doctor_external_id ?? doctor_id, treatment_external_id ?? treatment_id]
    return {
      description: item.description,
      quantity: item.quantity,
      unitPrice: item.unit_price,
      discount: item.discount_amount,
      discountRate: item.discount_rate,
      taxRate: item.tax_rate,
      tax: item.tax_amount,
      total: item.total_amount,
      doctor: doctor == null ? null : idOf('doctor', doctor),
      treatment: treatment == null ? null : idOf('treatment', treatment),
    }
  })
