import type { ClinicId } from '../../domain/clinic.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import { formsOf } from '../external-ids/derive.ts'
import { provenanceOfItem } from '../external-ids/provenance.ts'
import {
  calendarKey,
  calendarSortKey,
  dayEnd,
  invoiceNumberPartition,
  ownerPartition,
} from '../keys/calendar.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'
import type { CalendarEntity, StoredRecord } from './calendar-entity.ts'
import { type CalendarFilter, matches, ownerOf, UNLIMITED } from './calendar-filter.ts'
import { idOf } from './calendar-row.ts'

/** Reads the records of one entity: by id, or from their rows. */
export function calendarRecords<R, F extends string>(table: Table, entity: CalendarEntity<R, F>) {
  const { entityCode } = entity

  async function find(clinic: ClinicId, id: string): Promise<StoredRecord<R> | null> {
    const item = await table.get(calendarKey(clinic, entityCode, id))
    return item ? toStoredRecord(item) : null
  }

  async function findMany(clinic: ClinicId, ids: readonly string[]): Promise<Map<string, StoredRecord<R>>> {
    const items = await table.getMany([...new Set(ids)].map((id) => calendarKey(clinic, entityCode, id)))
    return new Map(items.map((item) => [item.sk, toStoredRecord(item)]))
  }

  const toStoredRecord = (item: Item): StoredRecord<R> => ({
    record: entity.decode(item, item.sk),
    version: item.v ?? 0,
    events: item.ev ?? 0,
    ...provenanceOfItem(item),
  })

  /** The records of rows, in their order; the records of thin rows are read by id. */
  async function ofRows(clinic: ClinicId, rows: readonly Item[]): Promise<WithUpdatedAt<R>[]> {
    const thin = rows.filter((row) => row.t).map(idOf)
    const records = thin.length === 0 ? new Map<string, StoredRecord<R>>() : await findMany(clinic, thin)
    return rows.flatMap((row) => {
      if (!row.t) return [entity.decode(row, idOf(row))]
      const stored = records.get(idOf(row))
      return stored ? [stored.record] : []
    })
  }

  /** The rows of a filter's owner that match the filter, in the order of the list; those after a cursor if there is one. */
  async function ofOwner(clinic: ClinicId, filter: CalendarFilter<F>, cursor?: string): Promise<Item[]> {
    const owner = ownerOf(filter)
    if (owner === null) throw new RangeError('the filter has no owner')
    const { from, to, order } = filter
    const last = to && dayEnd(to)
    const range = order === 'asc' ? { from: cursor || from, to: last } : { from, to: cursor ?? last }
    const descending = order !== 'asc'
    const rows =
      owner === 'number'
        ? inRange(await ofNumber(clinic, filter.number ?? ''), range, descending)
        : await table.query({
            pk: ownerPartition(clinic, entityCode, owner, filter[owner] ?? ''),
            ...range,
            descending,
            limit: UNLIMITED,
          })
    return rows.filter((row) => row.sk !== cursor && matches(entity, entity.decode(row, idOf(row)), filter))
  }

  /** The records with a number, as the rows of their patients' lists. */
  async function ofNumber(clinic: ClinicId, number: string): Promise<Item[]> {
    const partitions = Array.from(formsOf(number), (form) => invoiceNumberPartition(clinic, form))
    const found = await Promise.all(partitions.map((pk) => table.query({ pk, limit: UNLIMITED })))
    const keys = found.flat()
    const items = await table.getMany(keys.map(({ sk }) => calendarKey(clinic, entityCode, sk)))
    return items.map((item) => {
      const { date, moment, id } = entity.position(entity.decode(item, item.sk))
      return { ...item, sk: calendarSortKey(date, moment, id) }
    })
  }

  return { find, findMany, ofRows, ofOwner }
}

/** What a query of a partition with these rows returns. */
function inRange(
  rows: readonly Item[],
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
  descending: boolean,
): Item[] {
  const found = rows.filter(({ sk }) => (from === undefined || from <= sk) && (to === undefined || sk <= to))
  return found.sort((a, b) => (a.sk < b.sk === descending ? 1 : -1))
}

export type CalendarRecords<R, F extends string> = ReturnType<typeof calendarRecords<R, F>>
