import type { ClinicId } from '../../domain/clinic.ts'
import { isUuid } from '../../domain/uuid.ts'
import { ExternalIdTaken } from '../table/errors.ts'
import type { Table } from '../table/table.ts'
import { formsOf, type ImportedKind, readImportIds } from './derive.ts'
import type { LinkableKind } from './links.ts'

/** Kinds whose records cannot be linked to external ids (links.ts). */
export type UnlinkedKind = Exclude<ImportedKind, LinkableKind>

/**
 * The id of a record of such a kind that a request creates: with an external id, the one that an import derives from it, so that both
 * mean one record. Called in each attempt, whose write requires that no record has the id. The record's provenance is the external id.
 * @param created the id that the record gets without an external id
 * @param find the record of the clinic with an id; null or undefined if there is none
 * @throws ExternalIdTaken when a record was created with the external id, or when it is the id of one: files mean that record by it
 */
export async function newRecordId(
  table: Table,
  clinic: ClinicId,
  kind: UnlinkedKind,
  created: { readonly id: string; readonly externalId?: string | null | undefined },
  find: (id: string) => unknown,
): Promise<string> {
  const { id, externalId } = created
  if (externalId == null) return id
  const ids = await readImportIds(table, clinic)
  const derived = Array.from(formsOf(externalId), (form) => ids(kind, form))
  for (const holder of [...derived, ...(isUuid(externalId) ? [externalId.toLowerCase()] : [])])
    if (await find(holder)) throw new ExternalIdTaken(holder)
  return derived[0] ?? ''
}
