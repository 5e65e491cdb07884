import type { ClinicId } from '../../domain/clinic.ts'
import type { Key } from '../keys/key.ts'
import { mark, number, optional, optionalText, requireTypes } from '../table/attributes.ts'
import { Changeset } from '../table/changeset.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'

/** The origin of a record. Requests change the external id only; the rest is the operator tool's. */
export type Provenance = {
  /** The id in another system of the clinic or of an integrator. */
  readonly externalId?: string | null
  /** The values that the last import read and left, as digests that only the operator tool compares (bin/clinic/import/). */
  readonly imported?: string
  /** Whether a request of another system has set or removed the external id, so that imports do not overwrite the record until an operator confirms it. */
  readonly isLinkedByApi?: true
}

type Optional<T> = { readonly [Name in keyof T]: T[Name] | undefined }

export const provenanceAttributes = ({
  externalId,
  imported,
  isLinkedByApi,
}: Optional<Provenance>): Record<string, string | number> => ({
  ...(externalId != null && { xi: externalId }),
  ...(imported !== undefined && { im: imported }),
  ...(isLinkedByApi && { xl: 1 }),
})

/** What stores add to the fields of a record; `ev` is the number of its events. */
const ADDED = [optionalText('xi'), optionalText('im'), mark('xl'), optional(number('ev'))]

/** @throws TypeError for a record to which its store has added something else */
export function provenanceOfItem(item: Item): Provenance {
  requireTypes(item, ADDED)
  const { xi, im, xl } = item
  return {
    ...(xi !== undefined && { externalId: xi }),
    ...(im !== undefined && { imported: im }),
    ...(xl !== undefined && { isLinkedByApi: true }),
  }
}

/** Whether a record has an external id, in the composed form of Unicode. An earlier release has stored the form that was sent. */
export const hasExternalId = ({ externalId }: Provenance, composed: string | null): boolean =>
  externalId != null && externalId.normalize() === composed

/** The provenance alone of a record that was read. */
export const provenanceOf = ({ externalId, imported, isLinkedByApi }: Provenance): Provenance => ({
  ...(externalId != null && { externalId }),
  ...(imported !== undefined && { imported }),
  ...(isLinkedByApi && { isLinkedByApi }),
})

/**
 * The provenance of a record whose external id a request sets or, by null, removes: nothing of it was imported.
 * @param isConfirmed whether the credential is that of the clinic's own system
 */
export const providedByApi = (externalId: string | null, isConfirmed: boolean): Provenance => ({
  ...(externalId !== null && { externalId }),
  ...(!isConfirmed && { isLinkedByApi: true }),
})

/**
 * Adds the provenance of a record to a transaction. The record stays as it is, with the time of its last change: only its version
 * grows, so that no writer that has read it removes the provenance again.
 */
export function setProvenance(changes: Changeset, key: Key, version: number, provenance: Provenance): void {
  const { xi, im, xl } = provenanceAttributes(provenance)
  changes.set(key, 'xi', xi)
  changes.set(key, 'im', im)
  changes.set(key, 'xl', xl)
  changes.expectVersion(key, version)
}

/** Writes the provenance of a record as it was read. @throws ConditionFailed when it was changed since */
export function saveProvenance(
  table: Table,
  clinic: ClinicId,
  key: Key,
  version: number,
  record: Provenance,
): Promise<void> {
  const changes = new Changeset(table, clinic)
  setProvenance(changes, key, version, provenanceOf(record))
  return changes.commit()
}
