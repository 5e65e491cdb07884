import * as z from 'zod'
import { type PriceList, priceListProblems } from '../../../../shared/domain/booking/catalogue.ts'
import type { ClinicInfo } from '../../../../shared/domain/clinic.ts'
import { priceListStore, treatmentStore } from '../../../../shared/store/catalogue.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { ExternalRef, OwnRef, type RefIds } from '../external-ids/resolve-references.ts'
import { parseJson } from '../files/csv-cells.ts'
import { RowRejectedError } from '../files/import-errors.ts'
import { catalogueName, currencyCode } from './catalogue-fields.ts'
import { amountOf, catalogueImport, currencyOf } from './catalogue-rows.ts'
import { columnTable, defaulted, nullable, required } from './columns.ts'
import { definedFields, type ImportEntity, type ImportRow, type RowFields } from './entity.ts'
import { Decimal } from './invoice-amounts.ts'
import { booleanField, RowRecordDate } from './row-fields.ts'

/** The prices are read once the currency is known. */
type Fields = RowFields<Omit<PriceList, 'id' | 'items' | 'currency'>> &
  Pick<PriceList, 'name'> & {
    readonly currency: string | null | undefined
    readonly items: readonly { readonly treatmentId: string; readonly price: string | number }[] | undefined
  }

/** A treatment by its external id or its own id, and its price. */
const Price = z
  .strictObject(
    {
      treatment_external_id: ExternalRef.optional(),
      treatment_id: OwnRef.optional(),
      price: Decimal,
    },
    { error: 'must be an object with treatment_external_id and price' },
  )
  .transform(({ treatment_external_id, treatment_id, price }, context) => {
    const [treatment, ...more] = [treatment_external_id, treatment_id].filter((ref) => ref !== undefined)
    if (treatment !== undefined && more.length === 0) return { treatment, price }
    const message = 'must have either treatment_external_id or treatment_id'
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })

/** A list in NDJSON, a JSON array in a CSV cell. */
const Prices = z.preprocess(
  (value) => (typeof value === 'string' ? parseJson(value) : value),
  z.array(Price, { error: 'must be a JSON array of treatments and their prices' }),
)

const columns = columnTable({
  name: required('name', catalogueName),
  currency: nullable('currency', currencyCode),
  is_default: defaulted('isDefault', booleanField),
  valid_from: nullable('validFrom', RowRecordDate),
  valid_to: nullable('validTo', RowRecordDate),
  items: {
    ...nullable('items', Prices),
    read: (items: z.output<typeof Prices> | null | undefined, idOf: RefIds): Fields['items'] =>
      items === null
        ? []
        : items?.map(({ treatment, price }) => ({ treatmentId: idOf('treatment', treatment), price })),
  },
})

export const { valuesOf: priceListValues } = columns

export const priceListImport = (table: Table): ImportEntity<Fields> =>
  catalogueImport({
    name: 'price-lists',
    idKind: 'price-list',
    kind: 'price list',
    columns,
    store: priceListStore({ table }),
    references: treatmentStore({ table }),
    build: priceListOf,
    problems: priceListProblems,
    conflicting: { isDefault: 'is_default', validTo: 'valid_to' },
  })

/** @throws RowRejectedError for a price that is not one in the list's currency */
function priceListOf(
  { id, fields }: ImportRow<Fields>,
  before: PriceList | null,
  clinic: ClinicInfo,
): PriceList {
  const { items, currency: given, ...facts } = fields
  const currency = currencyOf(given, before, clinic)
  if (before && before.items.length > 0 && items === undefined && before.currency !== currency)
    throw new RowRejectedError('items must have the prices in the new currency')
  return {
    isDefault: false,
    validFrom: null,
    validTo: null,
    ...before,
    ...definedFields(facts),
    id,
    name: fields.name,
    currency,
    items:
      items?.map(({ treatmentId, price }, at) => ({
        treatmentId,
        price: amountOf(price, currency, `items.${at}.price`),
      })) ??
      before?.items ??
      [],
  }
}
