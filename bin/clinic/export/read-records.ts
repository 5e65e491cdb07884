import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { partitionPages } from '../../../shared/maintenance/walk/partition-pages.ts'
import { changedId, changeIndexPartition, changesFrom } from '../../../shared/store/keys/change-index.ts'
import type { Table } from '../../../shared/store/table/table.ts'
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

/** Reads the records of a kind that have changed since. Returns how many rows are new or different. */
export async function readChanges(
  table: Table,
  clinic: ClinicId,
  source: LargeSource,
  staging: Staging,
  since: number,
): Promise<number> {
  let changed = 0
  const from = changesFrom(new Date(since).toISOString())
  for await (const listed of partitionPages(table, changeIndexPartition(clinic, source.kind), { from })) {
    const items = await table.getMany(listed.map((item) => source.keyOf(clinic, changedId(item))))
    changed += staging.put(source.entity, items.map(rowOf(source)))
  }
  return changed
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
