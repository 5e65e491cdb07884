import type { ClinicId } from '../../../domain/clinic.ts'
import { isCalendarDate } from '../../../domain/timestamp.ts'
import { isUuid } from '../../../domain/uuid.ts'
import type { CalendarEntity, StoredRecord } from '../../../store/calendar/calendar-entity.ts'
import type { calendarList } from '../../../store/calendar/calendar-list.ts'
import type { ListPosition } from '../../../store/calendar/calendar-row.ts'
import { provenanceOfItem } from '../../../store/external-ids/provenance.ts'
import type { Key } from '../../../store/keys/key.ts'
import { DECIMALS_ATTRIBUTE } from '../../../store/table/stored-amounts.ts'
import type { Table } from '../../../store/table/table.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { type DerivedItem, itemsWritten } from './derived-items.ts'
import { readable } from './readable.ts'

/** A record of a calendar list, and where it is listed. */
export type RecordImage<R> = StoredRecord<R> & {
  readonly id: string
  readonly key: Key
  readonly position: ListPosition
}

/** Several checks look at the same item. */
const images = new WeakMap<Item, RecordImage<unknown> | null>()

/** Null if the item is not in the form that its store writes: it cannot be compared with anything then. */
export function imageOf<R>(entity: CalendarEntity<R, never>, item: Item): RecordImage<R> | null {
  const known = images.get(item)
  if (known !== undefined) return known as RecordImage<R> | null
  const image = readable(() => decodeImage(entity, item))
  images.set(item, image)
  return image
}

/** @throws what decoding, a date or an id throws for a value that it rejects */
function decodeImage<R>(entity: CalendarEntity<R, never>, item: Item): RecordImage<R> | null {
  const record = entity.decode(item, item.sk)
  const position = entity.position(record)
  if (!Number.isInteger(item.v) || !isValid(entity, position)) return null
  // Encoding rejects what decoding does not, such as a status that is not one of the entity's.
  if (Object.values(entity.encode(record)).includes(undefined)) return null
  return {
    id: item.sk,
    key: { pk: item.pk, sk: item.sk },
    version: item.v ?? 0,
    events: item.ev ?? 0,
    ...provenanceOfItem(item),
    record,
    position,
  }
}

function isValid<R>(
  { facets }: CalendarEntity<R, never>,
  { date, facet, id, patient, doctor, invoice }: ListPosition,
): boolean {
  return (
    isCalendarDate(date) &&
    Object.values<string>(facets).includes(facet) &&
    [id, patient, doctor ?? id, invoice ?? id].every(isUuid)
  )
}

/** Whether an item is in one of the lists of an entity. */
export const isRowOf = (
  { entityCode }: Pick<CalendarEntity<never, never>, 'entityCode'>,
  { pk }: Key,
): boolean => new RegExp(`^[^#]+#${entityCode}[LDPI](#|$)`).test(pk)

/** The items that belong to a record, as its store would write them. */
export function itemsOfRecord<R>(
  table: Table,
  clinic: ClinicId,
  { rebuild }: ReturnType<typeof calendarList<R, never>>,
  item: Item,
  image: RecordImage<R>,
): readonly DerivedItem[] {
  const items = itemsWritten(table, clinic, (changes) => rebuild(changes, image))
  const own = items.filter(({ pk, sk }) => pk !== image.key.pk || sk !== image.key.sk)
  // Items from before amounts had their decimals, and their rows, lack them.
  if (item[DECIMALS_ATTRIBUTE] !== undefined) return own
  return own.map((one) => {
    if (one.attribute !== undefined) return one
    const { [DECIMALS_ATTRIBUTE]: _, ...value } = one.value as Item
    return { ...one, value }
  })
}
