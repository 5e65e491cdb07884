/**
 * A tallied calendar list: records of a clinic by date, newest first, with an exact total and any page at a cost that
 * does not grow with the list. Appointments, invoices, payments and messages are all one of these.
 *
 * A record stands in several places, written in one transaction: by its id; as a row in its clinic's list and, where it
 * has one, its doctor's, sorted by facet (status or channel) and time; as a row in its patient's list, sorted by time.
 * Beside each sorted list, one tally item a month counts the rows of each day and facet. A page reads the tallies, plans
 * (domain/page-plan.ts), and reads exactly the rows it needs: two round trips, three where rows are thin.
 */
import type { ClinicId } from '../../domain/clinic.ts'
import type { EventDraft } from '../../domain/event.ts'
import { type DayTally, planPage } from '../../domain/page-plan.ts'
import { offsetOf, type Page, type PageRequest } from '../../domain/paging.ts'
import {
  type CalendarLetter,
  calendarKey,
  calendarListPartition,
  dayEnd,
  facetSortKey,
  ownerPartition,
  tallyPartition,
} from '../keys/calendar.ts'
import type { Changeset } from '../table/changeset.ts'
import type { Item, Table } from '../table/table.ts'
import { idOf, type ListPosition, rowAttributes, rowKeys, sortTimeOf } from './calendar-row.ts'
import { readTallies, tallyAttribute, tallyCounter } from './tally.ts'

/** What one kind of record says of itself. */
export type CalendarEntity<R, F extends string> = {
  readonly letter: CalendarLetter
  /** The values that lists are sorted and counted by (statuses, channels), each as one character. */
  readonly facets: Readonly<Record<F, string>>
  readonly position: (record: R) => ListPosition
  /** The attributes of a record, short names; `large` ones are left out of a row that would be over {@link WHOLE_ROW}. */
  readonly encode: (record: R) => Record<string, unknown>
  /** The inverse; a thin row lacks the large attributes. */
  readonly decode: (item: Item, id: string) => R
  readonly large: readonly string[]
  /** Attributes that no list shows: they stand in the record alone. */
  readonly unlisted?: readonly string[]
  /** The event that a change makes, if any. */
  readonly eventDraft: (before: R | null, after: R) => EventDraft | null
  /** More to be changed with a record: what takes a doctor's time, say. */
  readonly onChange?: (changeset: Changeset, before: R | null, after: R) => void
}

/** What a list is narrowed by; dates are inclusive. */
export type CalendarFilter<F extends string> = {
  readonly patient?: string | undefined
  readonly invoice?: string | undefined
  readonly doctor?: string | undefined
  /** A status or channel. */
  readonly facet?: F | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** A record as it was read, with the version that a change of it is conditional on. */
export type StoredRecord<R> = {
  readonly record: R
  readonly version: number
  /** How many events it has made. */
  readonly events: number
}

/** Months of tallies, and rows of one patient: more than any list has. */
const UNLIMITED = 1_000_000

/** Reading and changing single records, whatever they are listed by. */
export type RecordList<R> = Pick<
  ReturnType<typeof calendarList<R, never>>,
  'find' | 'findMany' | 'allOf' | 'change'
>

/** `onDrift` hears of a page that a concurrent write shifted while it was read. */
export type ListPlatform = { readonly table: Table; readonly onDrift?: (letter: CalendarLetter) => void }

/** Opens the list of one entity. */
export function calendarList<R, F extends string>(
  { table, onDrift = () => {} }: ListPlatform,
  entity: CalendarEntity<R, F>,
) {
  const { letter } = entity

  async function find(clinic: ClinicId, id: string): Promise<StoredRecord<R> | null> {
    const item = await table.get(calendarKey(clinic, letter, id))
    return item ? toStoredRecord(item) : null
  }

  async function findMany(clinic: ClinicId, ids: readonly string[]): Promise<Map<string, StoredRecord<R>>> {
    const items = await table.getMany([...new Set(ids)].map((id) => calendarKey(clinic, letter, id)))
    return new Map(items.map((item) => [item.sk, toStoredRecord(item)]))
  }

  const toStoredRecord = (item: Item): StoredRecord<R> => ({
    record: entity.decode(item, item.sk),
    version: item.v as number,
    events: (item.ev as number | undefined) ?? 0,
  })

  /** A page of the clinic's, a doctor's, a patient's or an invoice's records, newest first, and the exact total. */
  async function page(clinic: ClinicId, filter: CalendarFilter<F>, request: PageRequest): Promise<Page<R>> {
    const owner = filter.invoice !== undefined ? 'invoice' : filter.patient !== undefined ? 'patient' : null
    if (owner !== null) {
      const pk = ownerPartition(clinic, letter, owner, (filter.invoice ?? filter.patient) as string)
      const rows = await ownerRows(pk, filter)
      const offset = offsetOf(request)
      return {
        items: await readRecords(clinic, rows.slice(offset, offset + request.limit)),
        total: rows.length,
      }
    }
    const first = await talliedPage(clinic, filter, request)
    if (!first.drifted) return first.page
    onDrift(letter)
    return (await talliedPage(clinic, filter, request)).page
  }

  /** Everything that one patient, invoice or doctor has; newest first, a doctor's by facet first. */
  async function allOf(clinic: ClinicId, owner: 'patient' | 'invoice' | 'doctor', id: string): Promise<R[]> {
    const pk =
      owner === 'doctor'
        ? calendarListPartition(clinic, letter, id)
        : ownerPartition(clinic, letter, owner, id)
    return readRecords(clinic, await ownerRows(pk, {}))
  }

  async function ownerRows(pk: string, filter: CalendarFilter<F>): Promise<Item[]> {
    const { from, to } = filter
    const range = {
      pk,
      from,
      to: to === undefined ? undefined : dayEnd(to),
      descending: true,
      limit: UNLIMITED,
    }
    const rows = await table.query(range)
    return rows.filter((row) => matches(entity.position(entity.decode(row, idOf(row))), filter))
  }

  const matches = (position: ListPosition, { patient, invoice, doctor, facet }: CalendarFilter<F>): boolean =>
    (patient === undefined || position.patient === patient) &&
    (invoice === undefined || position.invoice === invoice) &&
    (doctor === undefined || position.doctor === doctor) &&
    (facet === undefined || position.facet === entity.facets[facet])

  async function talliedPage(clinic: ClinicId, filter: CalendarFilter<F>, request: PageRequest) {
    const doctor = filter.doctor ?? null
    const days = await readTallies(table, tallyPartition(clinic, letter, doctor), filter)
    const plan = planPage(
      filterByFacet(days, filter.facet && entity.facets[filter.facet]),
      offsetOf(request),
      request.limit,
    )
    const pk = calendarListPartition(clinic, letter, doctor)
    const rows = await Promise.all(
      plan.reads.map(({ facet, from, to, newestFirst, limit }) =>
        table.query({
          pk,
          from: facetSortKey(facet, from),
          to: facetSortKey(facet, dayEnd(to)),
          descending: newestFirst,
          limit,
        }),
      ),
    )
    const drifted = rows.some((read, index) => read.length < (plan.reads[index]?.limit ?? 0))
    const pageRows = plan.pageOf(rows, (a, b) => (sortTimeOf(a) < sortTimeOf(b) ? 1 : -1))
    return { page: { items: await readRecords(clinic, pageRows), total: plan.total }, drifted }
  }

  /** The records of rows, in their order: thin rows are read by their ids. */
  async function readRecords(clinic: ClinicId, rows: readonly Item[]): Promise<R[]> {
    const thin = rows.filter((row) => row.t).map(idOf)
    const records = thin.length === 0 ? new Map<string, StoredRecord<R>>() : await findMany(clinic, thin)
    return rows.flatMap((row) => {
      if (!row.t) return [entity.decode(row, idOf(row))]
      const stored = records.get(idOf(row))
      return stored ? [stored.record] : []
    })
  }

  /** Adds a new record, or a change of one that was read, to a transaction. */
  function change(changeset: Changeset, before: StoredRecord<R> | null, after: R): void {
    const { clinic } = changeset
    const attributes = entity.encode(after)
    const position = entity.position(after)
    const oldPosition = before && entity.position(before.record)
    const eventDraft = changeset.emitsEvents ? entity.eventDraft(before?.record ?? null, after) : null
    const events = (before?.events ?? 0) + (eventDraft ? 1 : 0)
    if (eventDraft) changeset.announce(position.id, events, eventDraft)
    changeset.put(
      {
        ...calendarKey(clinic, letter, position.id),
        ...attributes,
        v: (before?.version ?? 0) + 1,
        ...(events > 0 && { ev: events }),
      },
      before === null ? 'new' : { version: before.version },
    )
    const rows = rowKeys(clinic, letter, position)
    const kept = new Set(rows.map(({ pk, sk }) => `${pk} ${sk}`))
    const row = rowAttributes(attributes, entity)
    for (const key of rows) changeset.put({ ...key, ...row })
    for (const key of oldPosition ? rowKeys(clinic, letter, oldPosition) : []) {
      if (!kept.has(`${key.pk} ${key.sk}`)) changeset.remove(key)
    }
    if (oldPosition) count(changeset, oldPosition, -1)
    count(changeset, position, 1)
    entity.onChange?.(changeset, before?.record ?? null, after)
  }

  function count(changeset: Changeset, { date, facet, doctor }: ListPosition, by: 1 | -1): void {
    for (const scope of doctor === undefined ? [null] : [null, doctor]) {
      const counter = tallyCounter(tallyPartition(changeset.clinic, letter, scope), date.slice(0, 7))
      changeset.addSpread(counter, tallyAttribute(date, facet), by)
    }
  }

  return { entity, find, findMany, page, allOf, change }
}

const filterByFacet = (days: readonly DayTally[], facet: string | undefined): DayTally[] =>
  facet === undefined
    ? [...days]
    : days.flatMap(({ date, counts }) => {
        const count = counts.get(facet)
        return count ? [{ date, counts: new Map([[facet, count]]) }] : []
      })
