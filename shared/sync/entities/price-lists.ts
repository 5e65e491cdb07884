import * as z from 'zod'
import type { PriceList } from '../../domain/booking/catalogue.ts'
import { PRICE_LIST_RULES } from '../../domain/catalogue/catalogue-rules.ts'
import { catalogueName } from '../../domain/patients/text-fields.ts'
import { priceListStore, treatmentStore } from '../../store/catalogue.ts'
import type { Table } from '../../store/table/table.ts'
import { ExternalRef, OwnRef, parseJson, type RefIds } from '../external-ids/resolve-references.ts'
import { currencyCode } from './catalogue-fields.ts'
import { catalogueImport } from './catalogue-rows.ts'
import { columnTable, defaulted, nullable, required } from './columns.ts'
import type { ImportEntity, RowFields } from './entity.ts'
import { Decimal } from './line-item-cells.ts'
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
  name: required('name', catalogueName()),
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

export const { cells: priceListCells, valuesOf: priceListValues } = columns

export const priceListImport = (table: Table): ImportEntity<Fields> =>
  catalogueImport({
    name: 'price-lists',
    idKind: 'price-list',
    rules: PRICE_LIST_RULES,
    columns,
    store: priceListStore({ table }),
    references: treatmentStore({ table }),
    conflicting: { isDefault: 'is_default', validTo: 'valid_to' },
  })
