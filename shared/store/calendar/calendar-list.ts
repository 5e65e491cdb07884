/**
 * A tallied calendar list: records of a clinic by date, in either order, with an exact total and any page at a cost that
 * does not grow with the list. Appointments, invoices, payments and messages are all one of these.
 *
 * A record is stored several times, always in one transaction: under its id; as a row in its clinic's list and, where it
 * has one, its doctor's, sorted by facet (status or channel) and time; as a row in its patient's list, sorted by time.
 * For each sorted list, one tally item a month counts the rows of each day and facet. A page takes three round trips: it reads the
 * tallies, plans (domain/lists/page-plan.ts) and reads exactly the rows it needs, and reads the tallies again to verify them. An index
 * lists the records by the time of their last change (../table/change-index.ts).
 */
import type { ClinicId } from '../../domain/clinic.ts'
import type { NumberedPage } from '../../domain/lists/cursor.ts'
import { offsetOf, type PageRequest } from '../../domain/lists/paging.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import { type Provenance, provenanceAttributes, provenanceOf } from '../external-ids/provenance.ts'
import { calendarKey, tallyKey, tallyPartition } from '../keys/calendar.ts'
import { changeIndexKey } from '../keys/change-index.ts'
import { changeIndexReader } from '../table/change-index.ts'
import type { Changeset } from '../table/changeset.ts'
import { cursorBefore, cursorOf, cursorReader, startCursor } from './calendar-cursor.ts'
import type { CalendarEntity, StoredRecord } from './calendar-entity.ts'
import type { CalendarFilter } from './calendar-filter.ts'
import { calendarPages, type ListPlatform } from './calendar-pages.ts'
import { calendarRecords } from './calendar-records.ts'
import { type ListPosition, rowAttributes, rowKeys } from './calendar-row.ts'
import { tallyAttribute } from './tally.ts'

/** Reading and changing single records, whatever they are listed by. */
export type RecordStore<R> = Pick<
  ReturnType<typeof calendarList<R, never>>,
  'find' | 'findMany' | 'allOf' | 'change' | 'refresh' | 'remove'
>

export function calendarList<R, F extends string>(platform: ListPlatform, entity: CalendarEntity<R, F>) {
  const { entityCode } = entity
  const records = calendarRecords(platform.table, entity)
  const { find, findMany } = records
  const { page: pageOf, allOf } = calendarPages(platform, entity, records)
  const { after } = cursorReader(platform, entity, records)
  const changes = changeIndexReader<R & { readonly id: string }>(
    platform.table,
    entityCode,
    async (clinic, ids) => {
      const found = await findMany(clinic, ids)
      return new Map([...found].map(([id, { record }]) => [id, { ...record, id }]))
    },
  )

  /** A page of records, with the cursor after it. */
  async function page(
    clinic: ClinicId,
    filter: CalendarFilter<F>,
    request: PageRequest,
  ): Promise<NumberedPage<WithUpdatedAt<R>>> {
    const { page, isConsistent } = await pageOf(clinic, filter, request)
    const { items, total } = page
    const first = items[0]
    const last = items.at(-1)
    // A page that changed while it was read may lack records before its last, which the list must not skip.
    const start = request.page === 1 ? startCursor(filter) : first && cursorBefore(entity, filter, first)
    if (!isConsistent && start !== undefined) {
      const read = await after(clinic, filter, start, request.limit)
      return { items: [...read.items], total, next: read.next }
    }
    const hasMore = offsetOf(request) + request.limit < total
    return { items, total, next: hasMore && last ? cursorOf(entity, last) : null }
  }

  /**
   * Adds a new record, or a change of one that was read, to a transaction, and returns the record as it is stored, with the time
   * of the change. The provenance is kept unless one is given.
   * @param events the number of the record's events so far, also of one that was removed and is created again
   */
  function change(
    changeset: Changeset,
    before: StoredRecord<R> | null,
    record: R,
    provenance: Provenance = provenanceOf(before ?? {}),
    events = before?.events ?? 0,
  ): WithUpdatedAt<R> {
    const after = { ...record, updatedAt: changeset.timeOfChange(before ? null : entity.createdAt(record)) }
    write(changeset, before, after, provenance, events)
    return after
  }

  /** Adds a record with new copies of names to a transaction. It does not count as changed: those that it copies do. */
  function refresh(changeset: Changeset, before: StoredRecord<R>, record: R): void {
    write(changeset, before, { ...record, updatedAt: before.record.updatedAt }, provenanceOf(before))
  }

  /** Adds a stored record to a transaction as if it were new: then the transaction has all items that belong to the record. */
  function rebuild(changeset: Changeset, stored: StoredRecord<R>): void {
    write(changeset, null, stored.record, provenanceOf(stored))
  }

  /** Adds the removal of a record to a transaction, with all items that belong to it. It has no event: only a restore removes records. */
  function remove(changeset: Changeset, { record, version }: StoredRecord<R>): void {
    const { clinic } = changeset
    const position = entity.position(record)
    const { id } = position
    changeset.remove(calendarKey(clinic, entityCode, id), version)
    for (const key of rowKeys(clinic, entityCode, position)) changeset.remove(key)
    count(changeset, position, -1)
    changeset.remove(changeIndexKey(clinic, entityCode, { id, updatedAt: record.updatedAt }))
    entity.onChange?.(changeset, record, null)
  }

  function write(
    changeset: Changeset,
    before: StoredRecord<R> | null,
    after: WithUpdatedAt<R>,
    provenance: Provenance,
    earlierEvents = before?.events ?? 0,
  ): void {
    const { clinic } = changeset
    const attributes = entity.encode(after)
    const position = entity.position(after)
    const oldPosition = before && entity.position(before.record)
    const eventDraft = changeset.emitsEvents ? entity.eventDraft(before?.record ?? null, after) : null
    const events = earlierEvents + (eventDraft ? 1 : 0)
    if (eventDraft) changeset.announce(position.id, events, eventDraft)
    changeset.put(
      {
        ...calendarKey(clinic, entityCode, position.id),
        ...attributes,
        v: (before?.version ?? 0) + 1,
        ...(events > 0 && { ev: events }),
        ...provenanceAttributes(provenance),
      },
      before === null ? 'new' : { version: before.version },
    )
    const rows = rowKeys(clinic, entityCode, position)
    const kept = new Set(rows.map(({ pk, sk }) => `${pk} ${sk}`))
    const row = rowAttributes(attributes, entity)
    for (const key of rows) changeset.put({ ...key, ...row })
    for (const key of oldPosition ? rowKeys(clinic, entityCode, oldPosition) : []) {
      if (!kept.has(`${key.pk} ${key.sk}`)) changeset.remove(key)
    }
    if (oldPosition) count(changeset, oldPosition, -1)
    count(changeset, position, 1)
    const indexKey = (updatedAt: string) => changeIndexKey(clinic, entityCode, { id: position.id, updatedAt })
    changeset.move(before && indexKey(before.record.updatedAt), indexKey(after.updatedAt))
    entity.onChange?.(changeset, before?.record ?? null, after)
  }

  function count(changeset: Changeset, { date, facet, doctor }: ListPosition, by: 1 | -1): void {
    for (const scope of doctor === undefined ? [null] : [null, doctor]) {
      const month = tallyKey(tallyPartition(changeset.clinic, entityCode, scope), date.slice(0, 7))
      changeset.add(month, tallyAttribute(date, facet), by)
    }
  }

  return { entity, find, findMany, page, after, changes, allOf, change, refresh, rebuild, remove }
}
