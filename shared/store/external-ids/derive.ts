/**
 * Ids of imported records. They follow from the clinic's own system's id of a record, the external id, so that an import can
 * be repeated; but an external id may be a national id, so it cannot be found from the id without the clinic's secret.
 */
import { createHmac, createSecretKey } from 'node:crypto'
import type { ClinicId } from '../../domain/clinic.ts'
import { uuidOfDigest } from '../../domain/uuid.ts'
import { importSecretKey } from '../keys/operator.ts'
import { requireSecret } from '../table/secret.ts'
import type { Table } from '../table/table.ts'
import { readImportLinks } from './manual-links.ts'

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

/** The id of the record with an external id. */
export type ImportIds = (kind: ImportedKind, externalId: string) => string

/** The ids that are derived with the secret of a clinic. */
export type ImportKeys = {
  /** The id that an external id has, whether or not it is linked to another record. */
  readonly derivedIdOf: ImportIds
  /** The id of the record that an external id means: the linked one, or the one that an import made. */
  readonly idOf: ImportIds
  /** The version of the clinic's links that were read (manual-links.ts). */
  readonly linksVersion: number
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

/** Reads the ids that are derived with the secret of a clinic. Creates the secret if the clinic has none. */
export async function readImportKeys(table: Table, clinic: ClinicId): Promise<ImportKeys> {
  const [secret, links] = await Promise.all([
    requireSecret(table, importSecretKey(clinic)),
    readImportLinks(table, clinic),
  ])
  const derivedIdOf = importIdsOf(secret)
  const digestOf = digestsOf(secret)
  return {
    derivedIdOf,
    linksVersion: links.version,
    idOf: (kind, externalId) => {
      const id = derivedIdOf(kind, externalId)
      return links.byDerivedId.get(id) ?? id
    },
    // No kind of records has this name, so that no digest is an id.
    digestOf: (text) => digestOf(`digest:${text}`),
  }
}

/** The ids of a clinic's records by external id. */
export const readImportIds = async (table: Table, clinic: ClinicId): Promise<ImportIds> =>
  (await readImportKeys(table, clinic)).idOf
