import * as z from 'zod'
import {
  MAX_CATALOGUE,
  type Treatment,
  treatmentProblems,
} from '../../../../shared/domain/booking/catalogue.ts'
import type { ClinicInfo } from '../../../../shared/domain/clinic.ts'
import { treatmentStore } from '../../../../shared/store/catalogue.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { ColumnValues } from '../external-ids/overwrite-check.ts'
import { RecordRefs } from '../external-ids/resolve-references.ts'
import {
  catalogueName,
  currencyCode,
  treatmentCode,
  treatmentDescription,
  treatmentMinutes,
} from './catalogue-fields.ts'
import { currencyOf, priceOf, readIds, writeCatalogueRows } from './catalogue-rows.ts'
import { definedFields, type ImportEntity, type ImportRow, type RowFields } from './entity.ts'
import { Decimal } from './invoice-amounts.ts'
import { booleanField } from './row-fields.ts'

/** The price is read once the currency is known. */
type Fields = RowFields<Omit<Treatment, 'id' | 'price' | 'currency'>> &
  Pick<Treatment, 'name' | 'minutes'> & {
    readonly price: string | number
    readonly currency: string | null | undefined
  }

const columns = {
  name: catalogueName,
  code: treatmentCode.nullish(),
  description: treatmentDescription.nullish(),
  duration_minutes: treatmentMinutes,
  price: Decimal,
  currency: currencyCode.nullish(),
  doctor_external_ids: RecordRefs.nullish(),
  is_active: booleanField.nullish(),
}

export function treatmentImport(table: Table): ImportEntity<Fields> {
  const store = treatmentStore({ table })
  const doctors = doctorStore({ table })
  return {
    name: 'treatments',
    batchSize: MAX_CATALOGUE.treatment,
    idKind: 'treatment',
    columns: Object.keys(columns),
    required: ['name', 'duration_minutes', 'price'],
    schema: (_clinic, _now, idOf) =>
      z.strictObject(columns).transform(
        (row): Fields => ({
          name: row.name,
          code: row.code,
          description: row.description,
          minutes: row.duration_minutes,
          price: row.price,
          currency: row.currency,
          doctorIds:
            row.doctor_external_ids === null
              ? []
              : row.doctor_external_ids?.map((externalId) => idOf('doctor', externalId)),
          isActive: row.is_active ?? undefined,
        }),
      ),
    write: async (run, batch) => {
      const known = await readIds(doctors, run.clinic)
      await writeCatalogueRows<Treatment, Fields>(
        {
          kind: 'treatment',
          store,
          build: (row, before) => treatmentOf(row, before, run.clinic),
          valuesOf: treatmentValues,
          problems: (treatment, treatments) => treatmentProblems(treatment, treatments, known),
          columns: { doctorIds: 'doctor_external_ids' },
        },
        run,
        batch,
      )
    },
  }
}

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
    price: priceOf(price, currency, 'price'),
  }
}

export const treatmentValues = (treatment: Treatment): ColumnValues => ({
  name: treatment.name,
  code: treatment.code,
  description: treatment.description,
  duration_minutes: treatment.minutes,
  price: treatment.price,
  currency: treatment.currency,
  doctor_external_ids: treatment.doctorIds,
  is_active: treatment.isActive,
})
