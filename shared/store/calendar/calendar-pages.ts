/** Reads pages of a calendar list, and everything that one patient, invoice or doctor has. */
import type { ClinicId } from '../../domain/clinic.ts'
import { planPage, type RangeRead, rowCount } from '../../domain/lists/page-plan.ts'
import { MAX_UNCOUNTED_ROWS, offsetOf, type Page, type PageRequest } from '../../domain/lists/paging.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import {
  calendarListPartition,
  dayEnd,
  type EntityCode,
  facetSortKey,
  ownerPartition,
  tallyPartition,
} from '../keys/calendar.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'
import type { CalendarEntity } from './calendar-entity.ts'
import {
  type CalendarFilter,
  filterByFacets,
  haveRows,
  isCounted,
  matches,
  ownerOf,
  requireReadable,
  UNLIMITED,
  withoutRepetitions,
} from './calendar-filter.ts'
import type { CalendarRecords } from './calendar-records.ts'
import { idOf, sortTimeOf } from './calendar-row.ts'
import { readTallies, type TallyRange, type TallyVersions } from './tally.ts'

/** The most reads of a page that concurrent writes keep changing. */
const MAX_READS = 4

/** `onDrift` is called when a concurrent write changed a page while it was read. */
export type ListPlatform = { readonly table: Table; readonly onDrift?: (entityCode: EntityCode) => void }

type Records<R> = Page<WithUpdatedAt<R>>

/** A page, and whether no concurrent write changed it while it was read. */
type PageRead<R> = { readonly page: Records<R>; readonly isConsistent: boolean }

export function calendarPages<R, F extends string>(
  { table, onDrift = () => {} }: ListPlatform,
  entity: CalendarEntity<R, F>,
  records: CalendarRecords<R, F>,
) {
  const { entityCode } = entity

  /**
   * A page of the clinic's, a doctor's, a patient's or an invoice's records, and the exact total. If writes are too frequent for a
   * consistent read, both may differ by changes in between.
   * @throws TooManyRows
   */
  async function page(
    clinic: ClinicId,
    filter: CalendarFilter<F>,
    request: PageRequest,
  ): Promise<PageRead<R>> {
    for (let attempt = 1; ; attempt++) {
      const read = await (ownerOf(filter) === null
        ? talliedPage(clinic, filter, request)
        : ownerPage(clinic, filter, request))
      if (read.isConsistent) return read
      onDrift(entityCode)
      if (attempt === MAX_READS) return read
    }
  }

  /** Everything that one patient, invoice or doctor has; newest first, a doctor's by facet first. */
  async function allOf(
    clinic: ClinicId,
    owner: 'patient' | 'invoice' | 'doctor',
    id: string,
  ): Promise<WithUpdatedAt<R>[]> {
    const pk =
      owner === 'doctor'
        ? calendarListPartition(clinic, entityCode, id)
        : ownerPartition(clinic, entityCode, owner, id)
    return records.ofRows(clinic, await table.query({ pk, descending: true, limit: UNLIMITED }))
  }

  async function ownerPage(
    clinic: ClinicId,
    filter: CalendarFilter<F>,
    request: PageRequest,
  ): Promise<PageRead<R>> {
    const rows = await records.ofOwner(clinic, filter)
    const pageRows = pageOfRows(rows, request)
    const items = await records.ofRows(clinic, pageRows)
    const isConsistent =
      haveRows(entity, clinic, items, pageRows) && items.every((item) => matches(entity, item, filter))
    return { page: { items, total: rows.length }, isConsistent }
  }

  /**
   * Reads the tallies, then the rows that they count: of the page, or of the filter's whole range if no tally counts its records.
   * Facets are read concurrently, so a record that changes its facet in between could be in both or in neither: the page is
   * consistent only if the tallies of the months that were read are the same afterwards.
   */
  async function talliedPage(
    clinic: ClinicId,
    filter: CalendarFilter<F>,
    request: PageRequest,
  ): Promise<PageRead<R>> {
    const doctor = filter.doctor ?? null
    const tallies = tallyPartition(clinic, entityCode, doctor)
    const { days, versions } = await readTallies(table, tallies, filter)
    const counted = filterByFacets(days, entity, filter)
    requireReadable(filter, counted)
    const plan = isCounted(filter)
      ? planPage(counted, ...windowOf(request, filter, rowCount(counted)))
      : planPage(counted, 0, MAX_UNCOUNTED_ROWS)
    const pk = calendarListPartition(clinic, entityCode, doctor)
    const rows = await readRanges(table, pk, plan.reads)
    const isComplete = rows.every((read, index) => read.length === plan.reads[index]?.limit)
    const planned = plan.pageOf(rows, sortTimeOf)
    if (filter.order === 'asc') planned.reverse()
    const listed = isCounted(filter) ? planned : planned.filter(isListed(filter))
    const pageRows = isCounted(filter) ? listed : pageOfRows(listed, request)
    const [items, isUnchanged] = await Promise.all([
      records.ofRows(clinic, pageRows),
      !isComplete || haveSameTallies(table, tallies, rangeToVerify(plan.reads), versions),
    ])
    return {
      page: {
        items: withoutRepetitions(entity, items),
        total: isCounted(filter) ? plan.total : listed.length,
      },
      isConsistent:
        isComplete &&
        isUnchanged &&
        haveRows(entity, clinic, items, pageRows) &&
        items.every((item) => matches(entity, item, filter)),
    }
  }

  const isListed = (filter: CalendarFilter<F>) => (row: Item) =>
    matches(entity, entity.decode(row, idOf(row)), filter)

  return { page, allOf }
}

const pageOfRows = (rows: readonly Item[], request: PageRequest): Item[] =>
  rows.slice(offsetOf(request), offsetOf(request) + request.limit)

/** The offset and the length of a page in the list that is newest first. */
function windowOf(
  request: PageRequest,
  { order }: CalendarFilter<string>,
  total: number,
): [offset: number, limit: number] {
  const offset = offsetOf(request)
  if (order !== 'asc') return [offset, request.limit]
  const start = Math.max(0, total - offset - request.limit)
  return [start, total - offset - start]
}

/** The dates whose tallies a page depends on: the dates of its rows. */
function rangeToVerify(reads: readonly RangeRead[]): TallyRange | null {
  const [first] = reads
  if (!first) return null
  return {
    from: reads.reduce((min, read) => (read.from < min ? read.from : min), first.from),
    to: reads.reduce((max, read) => (read.to > max ? read.to : max), first.to),
  }
}

/** Whether the tallies of a range still have the versions that they had before. */
async function haveSameTallies(
  table: Table,
  pk: string,
  range: TallyRange | null,
  versions: TallyVersions,
): Promise<boolean> {
  if (range === null) return true
  const now = (await readTallies(table, pk, range)).versions
  return [...now].every(([month, version]) => versions.get(month) === version)
}

/** The rows of each read, in the order of the reads. */
const readRanges = (table: Table, pk: string, reads: readonly RangeRead[]): Promise<Item[][]> =>
  Promise.all(
    reads.map(({ facet, from, to, newestFirst, limit }) =>
      table.query({
        pk,
        from: facetSortKey(facet, from),
        to: facetSortKey(facet, dayEnd(to)),
        descending: newestFirst,
        limit,
      }),
    ),
  )
