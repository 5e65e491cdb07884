import { type Treatment, treatmentProblems } from '../../../../shared/domain/booking/catalogue.ts'
import type { ClinicInfo } from '../../../../shared/domain/clinic.ts'
import { treatmentStore } from '../../../../shared/store/catalogue.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import {
  catalogueName,
  currencyCode,
  durationMinutes,
  treatmentCode,
  treatmentDescription,
} from './catalogue-fields.ts'
import { amountOf, catalogueImport, currencyOf } from './catalogue-rows.ts'
import { columnTable, defaulted, nullable, references, required } from './columns.ts'
import { definedFields, type ImportEntity, type ImportRow, type RowFields } from './entity.ts'
import { Decimal } from './invoice-amounts.ts'
import { booleanField } from './row-fields.ts'

/** The price is read once the currency is known. */
type Fields = RowFields<Omit<Treatment, 'id' | 'price' | 'currency'>> &
  Pick<Treatment, 'name' | 'minutes'> & {
    readonly price: string | number
    readonly currency: string | null | undefined
  }

const columns = columnTable({
  name: required('name', catalogueName),
  code: nullable('code', treatmentCode),
  description: nullable('description', treatmentDescription),
  duration_minutes: required('minutes', durationMinutes),
  price: required('price', Decimal),
  currency: nullable('currency', currencyCode),
  doctor_external_ids: references('doctorIds', 'doctor'),
  is_active: defaulted('isActive', booleanField),
})

export const { valuesOf: treatmentValues } = columns

export const treatmentImport = (table: Table): ImportEntity<Fields> =>
  catalogueImport({
    name: 'treatments',
    idKind: 'treatment',
    kind: 'treatment',
    columns,
    store: treatmentStore({ table }),
    references: doctorStore({ table }),
    build: treatmentOf,
    problems: treatmentProblems,
    conflicting: { doctorIds: 'doctor_external_ids' },
  })

/** @throws RowRejectedError for a price that is not one in its currency */
function treatmentOf(
  { id, fields }: ImportRow<Fields>,
  before: Treatment | null,
  clinic: ClinicInfo,
): Treatment {
  const { price, currency: given, ...facts } = fields
  const currency = currencyOf(given, before, clinic)
  return {
    code: null,
    description: null,
    doctorIds: [],
    isActive: true,
    ...before,
    ...definedFields(facts),
    id,
    name: fields.name,
    minutes: fields.minutes,
    currency,
    price: amountOf(price, currency, 'price'),
  }
}
