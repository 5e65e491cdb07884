import type { ClinicId } from '../../domain/clinic.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import { provenanceOfItem } from '../external-ids/provenance.ts'
import { calendarKey } from '../keys/calendar.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'
import type { CalendarEntity, StoredRecord } from './calendar-entity.ts'
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
    version: item.v as number,
    events: (item.ev as number | undefined) ?? 0,
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

  return { find, findMany, ofRows }
}

export type CalendarRecords<R> = ReturnType<typeof calendarRecords<R, never>>
