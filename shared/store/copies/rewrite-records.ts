import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../../domain/clinic.ts'
import type { StoredRecord } from '../calendar/calendar-entity.ts'
import type { RecordStore } from '../calendar/calendar-list.ts'
import { provenanceOf } from '../external-ids/provenance.ts'
import type { Key } from '../keys/key.ts'
import { Changeset } from '../table/changeset.ts'
import { chunked } from '../table/chunked.ts'
import { commitPacked, type Unit } from '../table/commit-packed.ts'
import type { Table } from '../table/table.ts'
import { isSameRecord } from '../table/updated-at-codec.ts'

/** Records that are read and rewritten together. */
const BATCH_SIZE = 50

/** A record with fresh copies, and the version of the item that they were copied from. */
export type RefreshedRecord<R> = {
  readonly after: R
  readonly source: Key
  readonly version: number
  /** Whether the record's patient is erased, and the record loses its provenance. */
  readonly isErasure?: boolean
  /** Adds what else the record loses then. */
  readonly erase?: (changes: Changeset) => Promise<void>
}

/**
 * Rewrites the records whose copies are stale, each under the condition that the source of its copies has not changed
 * again. Returns how many were rewritten.
 */
export async function rewriteRecords<R extends { readonly id: string }>(
  table: Table,
  clinic: ClinicId,
  list: RecordStore<R>,
  records: readonly R[],
  refreshRecord: (record: R) => Promise<RefreshedRecord<R> | null>,
): Promise<number> {
  const buildChangeset = async (stored: StoredRecord<R> | null | undefined): Promise<Changeset | null> => {
    const refreshed = stored && (await refreshRecord(stored.record))
    if (!refreshed) return null
    const before = refreshed.isErasure ? withoutProvenance(stored) : stored
    const isFresh = isSameRecord(stored.record, refreshed.after)
    if (isFresh && isDeepStrictEqual(provenanceOf(before), provenanceOf(stored))) return null
    const changes = new Changeset(table, clinic)
    if (refreshed.isErasure) list.change(changes, before, refreshed.after)
    else list.refresh(changes, before, refreshed.after)
    if (refreshed.isErasure) await refreshed.erase?.(changes)
    changes.requireVersion(refreshed.source, refreshed.version)
    return changes
  }
  let rewritten = 0
  for (const batch of chunked(records, BATCH_SIZE)) {
    const ids = batch.map(({ id }) => id)
    const stored = await list.findMany(clinic, ids)
    const units: Unit[] = []
    for (const id of ids) {
      const changes = await buildChangeset(stored.get(id))
      if (changes) units.push({ changes, rebuild: async () => buildChangeset(await list.find(clinic, id)) })
    }
    await commitPacked(table, clinic, units)
    rewritten += units.length
  }
  return rewritten
}

const withoutProvenance = <R>({
  externalId: _,
  imported: __,
  isLinkedByApi: ___,
  ...stored
}: StoredRecord<R>): StoredRecord<R> => stored
