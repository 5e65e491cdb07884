import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { isUuid } from '../../../shared/domain/uuid.ts'
import type { WithUpdatedAt } from '../../../shared/domain/with-updated-at.ts'
import type { CalendarFilter } from '../../../shared/store/calendar/calendar-filter.ts'
import type { calendarList, RecordStore } from '../../../shared/store/calendar/calendar-list.ts'
import { Changeset } from '../../../shared/store/table/changeset.ts'
import { commitWithRetry } from '../../../shared/store/table/commit-packed.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { isSameRecord } from '../../../shared/store/table/updated-at-codec.ts'
import type { Warn } from '../tool/confirmation.ts'
import { CommandFailure } from '../tool/output.ts'

/**
 * Updates one record with its rows and tallies, and retries with a fresh read on conflict. `update` can add conditions to the
 * transaction. Writes nothing if nothing changes. Returns null if the record does not exist. `commit` builds the transaction,
 * again if necessary, and commits it.
 */
export async function changeRecord<R>(
  table: Table,
  list: RecordStore<R>,
  clinic: ClinicId,
  id: string,
  update: (before: R, changes: Changeset, warn: Warn) => Promise<R>,
  commit: (build: (warn?: Warn) => Promise<Changeset | null>) => Promise<void> = (build) =>
    commitWithRetry(() => build()),
): Promise<WithUpdatedAt<R> | null> {
  let current: WithUpdatedAt<R> | null = null
  await commit(async (warn = () => {}) => {
    const stored = await list.find(clinic, id.toLowerCase())
    current = stored?.record ?? null
    if (!stored) return null
    const changes = new Changeset(table, clinic)
    const after = await update(stored.record, changes, warn)
    if (isSameRecord(stored.record, after)) return null
    current = list.change(changes, stored, after)
    return changes
  })
  return current
}

/** Records read at once. */
const PAGE_SIZE = 500

/** The records of a list that a filter selects, newest first, read page by page. */
export async function* eachRecord<R, F extends string>(
  list: Pick<ReturnType<typeof calendarList<R, F>>, 'page' | 'after'>,
  clinic: ClinicId,
  filter: CalendarFilter<F>,
): AsyncGenerator<WithUpdatedAt<R>> {
  const first = await list.page(clinic, filter, { page: 1, limit: PAGE_SIZE })
  yield* first.items
  for (let { next } = first; next !== null; ) {
    const page = await list.after(clinic, filter, next, PAGE_SIZE)
    yield* page.items
    next = page.next
  }
}

/** The clinic has no such record. The typed text is not repeated unless it is an id: it may be a name. */
export const unknownRecord = (noun: string, id: string, group = noun.replace(' ', '-')): CommandFailure =>
  new CommandFailure(
    `The clinic has no ${noun}${isUuid(id) ? ` ${id}` : ' with this id'}. Find it with "${group} find" or "${group} list".`,
  )

/** The record with a typed id. @throws CommandFailure if there is none */
export async function requireRecord<R>(
  noun: string,
  id: string,
  find: (id: string) => Promise<R | null>,
  group?: string,
): Promise<R> {
  const found = isUuid(id) ? await find(id.toLowerCase()) : null
  if (found) return found
  throw unknownRecord(noun, id, group)
}
