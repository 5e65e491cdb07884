import * as z from 'zod'
import { Decimal, parseJson } from './invoice-amounts.ts'
import { ExternalRef, OwnRef } from './references.ts'

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
export const Prices = z.preprocess(
  (value) => (typeof value === 'string' ? parseJson(value) : value),
  z.array(Price, { error: 'must be a JSON array of treatments and their prices' }),
)
