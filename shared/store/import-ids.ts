/**
 * Ids of imported records. They follow from the clinic's own system's id of a record, the external id, so that an import can
 * be repeated; but an external id may be a national id, so it cannot be found from the id without the clinic's secret.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { ClinicId } from '../domain/clinic.ts'
import { uuidOfDigest } from '../domain/uuid.ts'
import { importSecretKey } from './keys/operator.ts'
import { ConditionFailed } from './table/errors.ts'
import type { Table } from './table/table.ts'
import type { Item } from './table/write-requests.ts'

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

const SECRET_BYTES = 32

/** A new secret of a clinic. */
export const newImportSecret = (): Uint8Array => randomBytes(SECRET_BYTES)

/** The item of a clinic's secret. */
export const importSecretItem = (clinic: ClinicId, secret: Uint8Array): Item => ({
  ...importSecretKey(clinic),
  secret,
})

/** How ids are derived with a secret. */
export const importIdsOf =
  (secret: Uint8Array): ImportIds =>
  (kind, externalId) =>
    uuidOfDigest(createHmac('sha256', secret).update(`${kind}:${externalId}`).digest())

/** How the ids of a clinic's imported records are derived. Creates the clinic's secret if it has none. */
export async function readImportIds(table: Table, clinic: ClinicId): Promise<ImportIds> {
  const key = importSecretKey(clinic)
  const stored = await table.get(key)
  if (stored) return importIdsOf(stored.secret as Uint8Array)
  try {
    const secret = newImportSecret()
    await table.transact([table.putWrite(importSecretItem(clinic, secret), 'new')])
    return importIdsOf(secret)
  } catch (error) {
    // Another process has created it in the meantime.
    if (!(error instanceof ConditionFailed)) throw error
    return readImportIds(table, clinic)
  }
}
