import * as z from 'zod'

const NOT_AN_ID = 'must be text or a safe integer'

/** A reference to another record by its external id. */
export const ExternalRef = z
  .union([z.string(), z.int({ error: NOT_AN_ID })], { error: NOT_AN_ID })
  .transform((id) => String(id).trim())
  .refine((id) => id.length >= 1 && id.length <= 200, { error: 'must have 1 to 200 characters' })

/** Entities that a row can refer to. */
type Referenced = 'patient' | 'doctor' | 'invoice'

export const unknownReference = (kind: Referenced): string =>
  `${kind}_external_id is unknown: the clinic has no such ${kind}`
