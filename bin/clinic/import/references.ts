import * as z from 'zod'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { importedUuid } from '../../../shared/domain/uuid.ts'

/** A reference to another record by its external id. */
export const ExternalRef = z
  .union([z.string(), z.int()], { error: 'must be text or a safe integer' })
  .transform((id) => String(id).trim())
  .refine((id) => id.length >= 1 && id.length <= 200, { error: 'must have 1 to 200 characters' })

/** Entities that a row can refer to. */
export type Referenced = 'patient' | 'doctor' | 'invoice'

export const referenceId = (clinic: ClinicId, kind: Referenced, externalId: string): string =>
  importedUuid(clinic, kind, externalId)

export const unknownReference = (kind: Referenced): string =>
  `${kind}_external_id is unknown: the clinic has no such ${kind}`
