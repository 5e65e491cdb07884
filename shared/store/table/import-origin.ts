import type { ClinicId } from '../../domain/clinic.ts'
import type { Key } from '../keys/key.ts'
import { Changeset } from './changeset.ts'
import type { Table } from './table.ts'
import type { Item } from './write-requests.ts'

/** Where an imported record comes from. For the operator alone: functions only keep it. */
export type ImportOrigin = {
  /** The id in the clinic's own system. */
  readonly externalId?: string
  /** What the last import read and left, as digests that only the operator tool can compare (bin/clinic/import/). */
  readonly imported?: string
}

type Optional<T> = { readonly [Name in keyof T]: T[Name] | undefined }

export const originAttributes = ({
  externalId,
  imported,
}: Optional<ImportOrigin>): Record<string, string> => ({
  ...(externalId !== undefined && { xi: externalId }),
  ...(imported !== undefined && { im: imported }),
})

/** The origin that an item has. */
export const originOfItem = ({ xi, im }: Item): ImportOrigin => ({
  ...(xi !== undefined && { externalId: xi as string }),
  ...(im !== undefined && { imported: im as string }),
})

/** The origin alone of a record that was read. */
export const originOf = ({ externalId, imported }: ImportOrigin): ImportOrigin => ({
  ...(externalId !== undefined && { externalId }),
  ...(imported !== undefined && { imported }),
})

/**
 * Adds another origin of a record to a transaction. The record stays as it is, with the time of its last change: only its version
 * grows, so that no writer that has read it removes the origin again.
 */
export function setOrigin(changes: Changeset, key: Key, version: number, origin: ImportOrigin): void {
  const { xi, im } = originAttributes(origin)
  changes.set(key, 'xi', xi)
  changes.set(key, 'im', im)
  changes.expectVersion(key, version)
}

/** Writes another origin of a record as it was read. @throws ConditionFailed when it was changed since */
export function saveOrigin(
  table: Table,
  clinic: ClinicId,
  key: Key,
  version: number,
  origin: ImportOrigin,
): Promise<void> {
  const changes = new Changeset(table, clinic)
  setOrigin(changes, key, version, origin)
  return changes.commit()
}
