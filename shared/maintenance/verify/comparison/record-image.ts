import type { ClinicId } from '../../../domain/clinic.ts'
import { isCalendarDate } from '../../../domain/timestamp.ts'
import { isUuid } from '../../../domain/uuid.ts'
import type { WithUpdatedAt } from '../../../domain/with-updated-at.ts'
import type { CalendarEntity } from '../../../store/calendar/calendar-entity.ts'
import { type ListPosition, rowAttributes, rowKeys } from '../../../store/calendar/calendar-row.ts'
import { type Provenance, provenanceOfItem } from '../../../store/external-ids/provenance.ts'
import { type Key, longId } from '../../../store/keys/key.ts'
import { DECIMALS_ATTRIBUTE } from '../../../store/table/stored-amounts.ts'
import type { Item } from '../../../store/table/write-requests.ts'

/** A stored record and all its rows. */
export type RecordImage<R> = Provenance & {
  readonly id: string
  readonly key: Key
  readonly version: number
  readonly events: number
  readonly record: WithUpdatedAt<R>
  readonly position: ListPosition
  readonly rowKeys: readonly Key[]
  /** The attributes of every row, without its key. */
  readonly row: Readonly<Record<string, unknown>>
}

/** Several checks look at the same item. */
const images = new WeakMap<Item, RecordImage<unknown> | null>()

/** Null if the item is not in the form that its store writes: it cannot be compared with anything then. */
export function imageOf<R>(
  clinic: ClinicId,
  entity: CalendarEntity<R, never>,
  item: Item,
): RecordImage<R> | null {
  const known = images.get(item)
  if (known !== undefined) return known as RecordImage<R> | null
  const image = decodeImage(clinic, entity, item)
  images.set(item, image)
  return image
}

function decodeImage<R>(
  clinic: ClinicId,
  entity: CalendarEntity<R, never>,
  item: Item,
): RecordImage<R> | null {
  try {
    const record = entity.decode(item, item.sk)
    const position = entity.position(record)
    const attributes = encodeLike(item, entity, record)
    if (!Number.isInteger(item.v) || !isValid(entity, position, attributes)) return null
    return {
      id: item.sk,
      key: { pk: item.pk, sk: item.sk },
      version: item.v as number,
      events: (item.ev as number | undefined) ?? 0,
      ...provenanceOfItem(item),
      record,
      position,
      rowKeys: rowKeys(clinic, entity.entityCode, position),
      row: rowAttributes(attributes, entity),
    }
  } catch {
    // A value that decoding, a date or an id rejects makes the record unreadable, like a missing attribute.
    return null
  }
}

/** All rows of a record, as its store would write them. */
export const rowsOf = <R>({ rowKeys, row }: RecordImage<R>): Item[] =>
  rowKeys.map((key) => ({ ...key, ...row }))

/** The attributes as the item was written: items from before amounts had their decimals, and their rows, lack them. */
function encodeLike<R>(
  item: Item,
  { encode }: CalendarEntity<R, never>,
  record: WithUpdatedAt<R>,
): Record<string, unknown> {
  const { [DECIMALS_ATTRIBUTE]: decimals, ...attributes } = encode(record)
  return item[DECIMALS_ATTRIBUTE] === undefined
    ? attributes
    : { ...attributes, [DECIMALS_ATTRIBUTE]: decimals }
}

function isValid<R>(
  { facets }: CalendarEntity<R, never>,
  { date, facet, id, patient, doctor, invoice }: ListPosition,
  attributes: Record<string, unknown>,
): boolean {
  return (
    isCalendarDate(date) &&
    Object.values<string>(facets).includes(facet) &&
    [id, patient, doctor ?? id, invoice ?? id].every(isUuid) &&
    !Object.values(attributes).includes(undefined)
  )
}

/** The id of a row's record, from the end of its sort key; null if there is none. */
export function recordIdOf({ sk }: Key): string | null {
  const id = longId(sk.slice(sk.lastIndexOf('#') + 1))
  return isUuid(id) ? id : null
}

export const keyText = ({ pk, sk }: Key): string => `${pk} ${sk}`
