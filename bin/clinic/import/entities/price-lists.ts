import * as z from 'zod'
import {
  MAX_CATALOGUE,
  type PriceList,
  priceListProblems,
} from '../../../../shared/domain/booking/catalogue.ts'
import type { ClinicInfo } from '../../../../shared/domain/clinic.ts'
import { priceListStore, treatmentStore } from '../../../../shared/store/catalogue.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { ColumnValues } from '../external-ids/overwrite-check.ts'
import { ExternalRef, OwnRef } from '../external-ids/resolve-references.ts'
import { RowRejectedError } from '../files/import-errors.ts'
import { catalogueName, currencyCode } from './catalogue-fields.ts'
import { currencyOf, priceOf, readIds, writeCatalogueRows } from './catalogue-rows.ts'
import { definedFields, type ImportEntity, type ImportRow, type RowFields } from './entity.ts'
import { Decimal, parseJson } from './invoice-amounts.ts'
import { booleanField, RowDate } from './row-fields.ts'

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

const columns = {
  name: catalogueName,
  currency: currencyCode.nullish(),
  is_default: booleanField.nullish(),
  valid_from: RowDate.nullish(),
  valid_to: RowDate.nullish(),
  items: Prices.nullish(),
}

export function priceListImport(table: Table): ImportEntity<Fields> {
  const store = priceListStore({ table })
  const treatments = treatmentStore({ table })
  return {
    name: 'price-lists',
    batchSize: MAX_CATALOGUE['price list'],
    idKind: 'price-list',
    columns: Object.keys(columns),
    required: ['name'],
    schema: (_clinic, _now, idOf) =>
      z.strictObject(columns).transform(
        (row): Fields => ({
          name: row.name,
          currency: row.currency,
          isDefault: row.is_default ?? undefined,
          validFrom: row.valid_from,
          validTo: row.valid_to,
          items:
            row.items === null
              ? []
              : row.items?.map((item) => ({
                  treatmentId: idOf('treatment', item.treatment),
                  price: item.price,
                })),
        }),
      ),
    write: async (run, batch) => {
      const known = await readIds(treatments, run.clinic)
      await writeCatalogueRows<PriceList, Fields>(
        {
          kind: 'price list',
          store,
          build: (row, before) => priceListOf(row, before, run.clinic),
          valuesOf: priceListValues,
          problems: (list, lists) => priceListProblems(list, lists, known),
          columns: { isDefault: 'is_default', validTo: 'valid_to' },
        },
        run,
        batch,
      )
    },
  }
}

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
        price: priceOf(price, currency, `items.${at}.price`),
      })) ??
      before?.items ??
      [],
  }
}

export const priceListValues = (list: PriceList): ColumnValues => ({
  name: list.name,
  currency: list.currency,
  is_default: list.isDefault,
  valid_from: list.validFrom,
  valid_to: list.validTo,
  items: list.items,
})
