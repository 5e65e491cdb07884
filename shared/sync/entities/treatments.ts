import type { Treatment } from '../../domain/booking/catalogue.ts'
import { TREATMENT_RULES } from '../../domain/catalogue/catalogue-rules.ts'
import { catalogueName, treatmentCode, treatmentDescription } from '../../domain/patients/text-fields.ts'
import { treatmentStore } from '../../store/catalogue.ts'
import { doctorStore } from '../../store/doctors.ts'
import type { Table } from '../../store/table/table.ts'
import { currencyCode, durationMinutes } from './catalogue-fields.ts'
import { catalogueImport } from './catalogue-rows.ts'
import { columnTable, defaulted, nullable, references, required } from './columns.ts'
import type { ImportEntity, RowFields } from './entity.ts'
import { Decimal } from './line-item-cells.ts'
import { booleanField } from './row-fields.ts'

/** The price is read once the currency is known. */
type Fields = RowFields<Omit<Treatment, 'id' | 'price' | 'currency'>> &
  Pick<Treatment, 'name' | 'minutes'> & {
    readonly price: string | number
    readonly currency: string | null | undefined
  }

const columns = columnTable({
  name: required('name', catalogueName()),
  code: nullable('code', treatmentCode()),
  description: nullable('description', treatmentDescription()),
  duration_minutes: required('minutes', durationMinutes),
  price: required('price', Decimal),
  currency: nullable('currency', currencyCode),
  doctor_external_ids: references('doctorIds', 'doctor'),
  is_active: defaulted('isActive', booleanField),
})

export const { cells: treatmentCells, valuesOf: treatmentValues } = columns

export const treatmentImport = (table: Table): ImportEntity<Fields> =>
  catalogueImport({
    name: 'treatments',
    idKind: 'treatment',
    rules: TREATMENT_RULES,
    columns,
    store: treatmentStore({ table }),
    references: doctorStore({ table }),
    conflicting: { doctorIds: 'doctor_external_ids' },
  })
