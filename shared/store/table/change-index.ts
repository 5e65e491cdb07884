import type { ClinicId } from '../../domain/clinic.ts'
import type { ChangeRange, CursorPage } from '../../domain/lists/cursor.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import {
  changedId,
  changeIndexPartition,
  changeIndexSortKey,
  changesAfter,
  changesFrom,
  type IndexedKind,
} from '../keys/change-index.ts'
import type { Table } from './table.ts'

/** Reads the records of one kind by the time of their last change, oldest first. */
export function changeIndexReader<Entity extends { readonly id: string }>(
  table: Table,
  kind: IndexedKind,
  findMany: (clinic: ClinicId, ids: readonly string[]) => Promise<ReadonlyMap<string, WithUpdatedAt<Entity>>>,
) {
  /**
   * At most `limit` records of a range. A record that is changed again while it is read is left out: its place is later.
   */
  return async (
    clinic: ClinicId,
    range: ChangeRange,
    limit: number,
  ): Promise<CursorPage<WithUpdatedAt<Entity>>> => {
    const from = range.after === undefined ? changesFrom(range.from) : changesAfter(range.after)
    const to = changesFrom(range.until)
    // A range must not end before it begins.
    if (from >= to) return { items: [], next: null }
    const listed = await table.query({ pk: changeIndexPartition(clinic, kind), from, to, limit: limit + 1 })
    const page = listed.slice(0, limit)
    const records = await findMany(clinic, page.map(changedId))
    const items = page.flatMap((item) => {
      const record = records.get(changedId(item))
      return record && changeIndexSortKey(record) === item.sk ? [record] : []
    })
    return { items, next: listed.length > limit ? (page.at(-1)?.sk ?? null) : null }
  }
}
