/** An import finds the ids of its rows by the links that it has read. New records require that there is none yet. */

import type { ClinicId } from '../../domain/clinic.ts'
import { findLinks } from '../../store/external-ids/links.ts'
import { externalIdLinkKey } from '../../store/keys/external-ids.ts'
import type { Changeset } from '../../store/table/changeset.ts'
import { ConditionFailed } from '../../store/table/errors.ts'
import type { Table } from '../../store/table/table.ts'

/** External ids were linked to other records since the rows were read. */
export class LinkedSince extends Error {}

/** Requires that the external ids of new records are not linked: each might be a second record of its external id. */
export function requireUnlinked(changes: Changeset, ids: readonly string[]): void {
  for (const id of ids) changes.requireVersion(externalIdLinkKey(changes.clinic, id), null)
}

/** Runs a write of new records. @throws LinkedSince if one of their external ids was linked since its row was read */
export async function withoutNewLinks(
  table: Table,
  clinic: ClinicId,
  ids: readonly string[],
  write: () => Promise<unknown>,
): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    await rejectNewLinks(table, clinic, ids)
    throw error
  }
}

/** @throws LinkedSince if one of these external ids was linked since its row was read */
export async function rejectNewLinks(table: Table, clinic: ClinicId, ids: readonly string[]): Promise<void> {
  if ((await findLinks(table, clinic, ids)).size > 0) throw new LinkedSince()
}
