/**
 * Ids of imported records. They follow from the clinic's own system's id of a record, the external id, so that an import can
 * be repeated; but an external id may be a national id, so it cannot be found from the id without the clinic's secret.
 */
import { createHmac } from 'node:crypto'
import type { ClinicId } from '../domain/clinic.ts'
import { uuidOfDigest } from '../domain/uuid.ts'
import { importSecretKey } from './keys/operator.ts'
import { requireSecret } from './table/secret.ts'
import type { Table } from './table/table.ts'

/** Entities whose records are imported. Never change one: every import would create all its records again. */
export type ImportedKind =
  | 'patient'
  | 'doctor'
  | 'appointment'
  | 'invoice'
  | 'payment'
  | 'message'
  | 'department'
  | 'room'
  | 'treatment'
  | 'price-list'

/** The id of the record with an external id. */
export type ImportIds = (kind: ImportedKind, externalId: string) => string

/** How ids are derived with a secret. */
export const importIdsOf =
  (secret: Uint8Array): ImportIds =>
  (kind, externalId) =>
    uuidOfDigest(createHmac('sha256', secret).update(`${kind}:${externalId}`).digest())

/** How the ids of a clinic's imported records are derived. Creates the clinic's secret if it has none. */
export const readImportIds = async (table: Table, clinic: ClinicId): Promise<ImportIds> =>
  importIdsOf(await requireSecret(table, importSecretKey(clinic)))
