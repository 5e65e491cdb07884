/** Departments, rooms, treatments and price lists. */
import * as z from 'zod'
import type { Department, PriceList, Room, Treatment } from '../../domain/booking/catalogue.ts'
import {
  DEPARTMENT_RULES,
  PRICE_LIST_RULES,
  ROOM_RULES,
  TREATMENT_RULES,
} from '../../domain/catalogue/catalogue-rules.ts'
import { catalogueName, treatmentCode, treatmentDescription } from '../../domain/patients/text-fields.ts'
import { departmentStore, priceListStore, roomStore, treatmentStore } from '../../store/catalogue.ts'
import { doctorStore } from '../../store/doctors.ts'
import type { Table } from '../../store/table/table.ts'
import { ExternalRef, OwnRef, parseJson, type RefIds } from '../external-ids/resolve-references.ts'
import { currencyCode, durationMinutes } from './catalogue-fields.ts'
import { catalogueImport } from './catalogue-rows.ts'
import { columnTable, defaulted, nullable, nullableReference, references, required } from './columns.ts'
import type { ImportEntity, RowFields } from './entity.ts'
import { Decimal } from './line-item-cells.ts'
import { booleanField, RowRecordDate } from './row-fields.ts'

type DepartmentFields = RowFields<Omit<Department, 'id'>> & Pick<Department, 'name'>
type RoomFields = RowFields<Omit<Room, 'id'>> & Pick<Room, 'name'>

const DEPARTMENT = {
  name: required('name', catalogueName()),
  is_active: defaulted('isActive', booleanField),
}
const departmentColumns = columnTable(DEPARTMENT)
const roomColumns = columnTable({
  name: DEPARTMENT.name,
  department_external_id: nullableReference('departmentId', 'department'),
  is_active: DEPARTMENT.is_active,
})

export const { cells: departmentCells, valuesOf: departmentValues } = departmentColumns
export const { cells: roomCells, valuesOf: roomValues } = roomColumns

export const departmentImport = (table: Table): ImportEntity<DepartmentFields> =>
  catalogueImport({
    name: 'departments',
    idKind: 'department',
    rules: DEPARTMENT_RULES,
    columns: departmentColumns,
    store: departmentStore({ table }),
  })

export const roomImport = (table: Table): ImportEntity<RoomFields> =>
  catalogueImport({
    name: 'rooms',
    idKind: 'room',
    rules: ROOM_RULES,
    columns: roomColumns,
    store: roomStore({ table }),
    references: departmentStore({ table }),
    conflicting: { departmentId: 'department_external_id' },
  })

/** The price is read once the currency is known. */
type TreatmentFields = RowFields<Omit<Treatment, 'id' | 'price' | 'currency'>> &
  Pick<Treatment, 'name' | 'minutes'> & {
    readonly price: string | number
    readonly currency: string | null | undefined
  }

const treatmentColumns = columnTable({
  name: required('name', catalogueName()),
  code: nullable('code', treatmentCode()),
  description: nullable('description', treatmentDescription()),
  duration_minutes: required('minutes', durationMinutes),
  price: required('price', Decimal),
  currency: nullable('currency', currencyCode),
  doctor_external_ids: references('doctorIds', 'doctor'),
  is_active: defaulted('isActive', booleanField),
})

export const { cells: treatmentCells, valuesOf: treatmentValues } = treatmentColumns

export const treatmentImport = (table: Table): ImportEntity<TreatmentFields> =>
  catalogueImport({
    name: 'treatments',
    idKind: 'treatment',
    rules: TREATMENT_RULES,
    columns: treatmentColumns,
    store: treatmentStore({ table }),
    references: doctorStore({ table }),
    conflicting: { doctorIds: 'doctor_external_ids' },
  })

/** The prices are read once the currency is known. */
type PriceListFields = RowFields<Omit<PriceList, 'id' | 'items' | 'currency'>> &
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

const priceListColumns = columnTable({
  name: required('name', catalogueName()),
  currency: nullable('currency', currencyCode),
  is_default: defaulted('isDefault', booleanField),
  valid_from: nullable('validFrom', RowRecordDate),
  valid_to: nullable('validTo', RowRecordDate),
  items: {
    ...nullable('items', Prices),
    read: (items: z.output<typeof Prices> | null | undefined, idOf: RefIds): PriceListFields['items'] =>
      items === null
        ? []
        : items?.map(({ treatment, price }) => ({ treatmentId: idOf('treatment', treatment), price })),
  },
})

export const { cells: priceListCells, valuesOf: priceListValues } = priceListColumns

export const priceListImport = (table: Table): ImportEntity<PriceListFields> =>
  catalogueImport({
    name: 'price-lists',
    idKind: 'price-list',
    rules: PRICE_LIST_RULES,
    columns: priceListColumns,
    store: priceListStore({ table }),
    references: treatmentStore({ table }),
    conflicting: { isDefault: 'is_default', validTo: 'valid_to' },
  })
