import type { ClinicId } from '../../domain/clinic.ts'
import type { Key } from '../keys/key.ts'
import { Changeset } from '../table/changeset.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'

/** The origin of an imported record. Only the operator tool uses it; functions leave it unchanged. */
export type Provenance = {
  /** The id in the clinic's own system. */
  readonly externalId?: string
  /** The values that the last import read and left, as digests that only the operator tool compares (bin/clinic/import/). */
  readonly imported?: string
}

type Optional<T> = { readonly [Name in keyof T]: T[Name] | undefined }

export const provenanceAttributes = ({
  externalId,
  imported,
}: Optional<Provenance>): Record<string, string> => ({
  ...(externalId !== undefined && { xi: externalId }),
  ...(imported !== undefined && { im: imported }),
})

/** The provenance that an item has. */
export const provenanceOfItem = ({ xi, im }: Item): Provenance => ({
  ...(xi !== undefined && { externalId: xi as string }),
  ...(im !== undefined && { imported: im as string }),
})

/** The provenance alone of a record that was read. */
export const provenanceOf = ({ externalId, imported }: Provenance): Provenance => ({
  ...(externalId !== undefined && { externalId }),
  ...(imported !== undefined && { imported }),
})

/**
 * Adds the provenance of a record to a transaction. The record stays as it is, with the time of its last change: only its version
 * grows, so that no writer that has read it removes the provenance again.
 */
export function setProvenance(changes: Changeset, key: Key, version: number, provenance: Provenance): void {
  const { xi, im } = provenanceAttributes(provenance)
  changes.set(key, 'xi', xi)
  changes.set(key, 'im', im)
  changes.expectVersion(key, version)
}

/** Writes the provenance of a record as it was read. @throws ConditionFailed when it was changed since */
export function saveProvenance(
  table: Table,
  clinic: ClinicId,
  key: Key,
  version: number,
  provenance: Provenance,
): Promise<void> {
  const changes = new Changeset(table, clinic)
  setProvenance(changes, key, version, provenance)
  return changes.commit()
}
