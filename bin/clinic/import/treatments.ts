import * as z from 'zod'
import { MAX_CATALOGUE, type Treatment, treatmentProblems } from '../../../shared/domain/catalogue.ts'
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import { treatmentStore } from '../../../shared/store/catalogue.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { booleanField } from './booleans.ts'
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
import { ExternalRef } from './references.ts'

/** The price is read once the currency is known. */
type Fields = RowFields<Omit<Treatment, 'id' | 'price' | 'currency'>> &
  Pick<Treatment, 'name' | 'minutes'> & {
    readonly price: string | number
    readonly currency: string | null | undefined
  }

/** A list in NDJSON; in a CSV cell, separated by semicolons. */
const ExternalRefs = z.preprocess(
  (value) => (typeof value === 'string' ? value.split(';') : value),
  z.array(ExternalRef, { error: 'must be a list of external ids' }),
)

const columns = {
  name: catalogueName,
  code: treatmentCode.nullish(),
  description: treatmentDescription.nullish(),
  duration_minutes: treatmentMinutes,
  price: Decimal,
  currency: currencyCode.nullish(),
  doctor_external_ids: ExternalRefs.nullish(),
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
    write: async (clinic, batch, outcomes) => {
      const known = await readIds(doctors, clinic)
      await writeCatalogueRows<Treatment, Fields>(
        {
          kind: 'treatment',
          store,
          build: (row, before) => treatmentOf(row, before, clinic),
          problems: (treatment, treatments) => treatmentProblems(treatment, treatments, known),
          columns: { doctorIds: 'doctor_external_ids' },
        },
        clinic,
        batch,
        outcomes,
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
