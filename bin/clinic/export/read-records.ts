import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { partitionPages } from '../../../shared/maintenance/walk/partition-pages.ts'
import { changeIndexPartition, changesFrom, INDEXED_KINDS } from '../../../shared/store/keys/change-index.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { VISIBILITY_DELAY_MS } from '../../../shared/store/table/visibility-delay.ts'
import type { Item } from '../../../shared/store/table/write-requests.ts'
import { CommandFailure, EXIT } from '../tool/output.ts'
import { type LargeSource, SMALL_SOURCES } from './sources.ts'
import type { Staging } from './staging.ts'

/** Reads all records of a kind. @throws CommandFailure if one cannot be read */
export async function readAll(
  table: Table,
  clinic: ClinicId,
  source: LargeSource,
  staging: Staging,
  onProgress: (rows: number) => void,
): Promise<void> {
  for await (const items of partitionPages(table, source.keyOf(clinic, '').pk)) {
    staging.put(source.entity, items.map(rowOf(source)))
    onProgress(items.length)
  }
}

/**
 * Whether a record has changed since, in milliseconds since the epoch. A change can be listed later than its time, by the visibility
 * delay at most. Small lists have no index of changes: they are read twice.
 */
export async function haveRecordsChanged(table: Table, clinic: ClinicId, since: number): Promise<boolean> {
  const from = changesFrom(new Date(since - VISIBILITY_DELAY_MS).toISOString())
  const changes = await Promise.all(
    INDEXED_KINDS.map((kind) => table.query({ pk: changeIndexPartition(clinic, kind), from, limit: 1 })),
  )
  return changes.some((items) => items.length > 0)
}

const rowOf =
  ({ entity, row }: LargeSource) =>
  (item: Item) => {
    try {
      return row(item)
    } catch {
      throw new CommandFailure(
        `${item.sk} of the clinic's ${entity} cannot be read. Run "clinic verify", then export again.`,
        EXIT.failed,
      )
    }
  }

/** Reads the small lists as a whole: nothing indexes their changes. Returns how many rows are new, different or gone. */
export async function readSmallLists(table: Table, clinic: ClinicId, staging: Staging): Promise<number> {
  let changed = 0
  for (const { entity, read } of SMALL_SOURCES) changed += staging.replace(entity, await read(table, clinic))
  return changed
}
