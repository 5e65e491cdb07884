import type { ClinicId } from '../../../shared/domain/clinic.ts'
import {
  changedId,
  changeIndexPartition,
  changesAfter,
  changesFrom,
} from '../../../shared/store/keys/change-index.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import type { Item } from '../../../shared/store/table/write-requests.ts'
import type { LargeSource } from './sources.ts'
import type { Staging } from './staging.ts'

/** Items that are read at a time. */
const PAGE_SIZE = 500

/** A record cannot be read. */
export class DamagedRecordError extends Error {}

/** Reads all records of a kind, from where a stopped export ended. */
export async function readAll(
  table: Table,
  clinic: ClinicId,
  source: LargeSource,
  staging: Staging,
  onProgress: (rows: number) => void,
): Promise<void> {
  const { pk } = source.keyOf(clinic, '')
  const name = `${source.entity} read`
  for (let last = staging.position(name); last !== END; ) {
    // No sort key is another one with a space after it.
    const items = await table.query({ pk, ...(last !== undefined && { from: `${last} ` }), limit: PAGE_SIZE })
    const next = items.length < PAGE_SIZE ? END : (items.at(-1) as Item).sk
    staging.put(source.entity, items.map(rowOf(source)), name, next)
    onProgress(items.length)
    last = next
  }
}

/** The position after all records. */
const END = 'end'

/** Reads the records of a kind that have changed since `from`. Returns how many rows are new or different. */
export async function readChanges(
  table: Table,
  clinic: ClinicId,
  source: LargeSource,
  staging: Staging,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<number> {
  const pk = changeIndexPartition(clinic, source.kind)
  const name = `${source.entity} changes`
  const cursorAt = (ms: number) => changesFrom(new Date(ms).toISOString())
  let changed = 0
  for (let after = staging.position(name) ?? cursorAt(from); ; ) {
    const listed = await table.query({ pk, from: after, limit: PAGE_SIZE })
    const items = await table.getMany(listed.map((item) => source.keyOf(clinic, changedId(item))))
    const last = listed.at(-1)
    if (!last) return changed
    after = changesAfter(last.sk)
    // Changes can still appear after `until`: a run that continues reads them again.
    const position = after < cursorAt(until) ? after : cursorAt(until)
    changed += staging.put(source.entity, items.map(rowOf(source)), name, position)
    if (listed.length < PAGE_SIZE) return changed
  }
}

const rowOf =
  ({ entity, row }: LargeSource) =>
  (item: Item) => {
    try {
      return row(item)
    } catch {
      throw new DamagedRecordError(
        `${item.sk} of the clinic's ${entity} cannot be read. Run "clinic verify", then continue the export.`,
      )
    }
  }
