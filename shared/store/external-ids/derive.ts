/**
 * Ids of imported records. They follow from the clinic's own system's id of a record, the external id, so that an import can
 * be repeated; but an external id may be a national id, so it cannot be found from the id without the clinic's secret.
 */
import { createHmac, createSecretKey } from 'node:crypto'
import type { ClinicId } from '../../domain/clinic.ts'
import { uuidOfDigest } from '../../domain/uuid.ts'
import { externalIdSecretKey } from '../keys/external-ids.ts'
import { requireSecret } from '../table/secret.ts'
import type { Table } from '../table/table.ts'

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
  | 'holiday'

/** The id that an external id has, unless it is linked to another record (links.ts). */
export type ImportIds = (kind: ImportedKind, externalId: string) => string

/** An external id in its forms of Unicode, which mean the same record; the composed one is first. */
export const formsOf = (externalId: string): ReadonlySet<string> =>
  new Set([externalId.normalize('NFC'), externalId, externalId.normalize('NFD')])

/** What is derived with the secret of a clinic. */
export type ImportKeys = {
  readonly derivedIdOf: ImportIds
  /** A digest that says nothing about a text to those who do not have the secret. */
  readonly digestOf: (text: string) => Buffer
}

/** How ids are derived with a secret. */
export function importIdsOf(secret: Uint8Array): ImportIds {
  const digestOf = digestsOf(secret)
  return (kind, externalId) => uuidOfDigest(digestOf(`${kind}:${externalId}`))
}

/** A key object is made once: making it takes longer than a digest. */
function digestsOf(secret: Uint8Array): (text: string) => Buffer {
  const key = createSecretKey(secret)
  return (text) => createHmac('sha256', key).update(text).digest()
}

/** Reads what is derived with the secret of a clinic. Creates the secret if the clinic has none. */
export async function readImportKeys(table: Table, clinic: ClinicId): Promise<ImportKeys> {
  const secret = await requireSecret(table, externalIdSecretKey(clinic))
  const digestOf = digestsOf(secret)
  return {
    derivedIdOf: importIdsOf(secret),
    // No kind of records has this name, so that no digest is an id.
    digestOf: (text) => digestOf(`digest:${text}`),
  }
}

export const readImportIds = async (table: Table, clinic: ClinicId): Promise<ImportIds> =>
  (await readImportKeys(table, clinic)).derivedIdOf
