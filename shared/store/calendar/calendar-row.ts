/** The rows of a record in the lists it stands in: their keys, and what of the record they hold. */
import type { ClinicId } from '../../domain/clinic.ts'
import {
  type CalendarLetter,
  calendarListPartition,
  calendarSortKey,
  facetSortKey,
  ownerPartition,
} from '../keys/calendar.ts'
import { type Key, longId } from '../keys/key.ts'
import type { Item } from '../table/table.ts'

/** Where a record stands. */
export type ListPosition = {
  readonly id: string
  /** One character of the entity's facets. */
  readonly facet: string
  /** Clinic-local `Y-m-d`, the date that filters use. */
  readonly date: string
  /** Sorts within the date. */
  readonly moment: string
  readonly patient: string
  readonly doctor?: string
  readonly invoice?: string
}

/** A row of more bytes, as JSON, leaves the large attributes to the record. */
const MAX_FULL_ROW_BYTES = 700

/** Every row of a record: its keys in the lists of clinic and doctor, patient and invoice. */
export function rowKeys(clinic: ClinicId, letter: CalendarLetter, position: ListPosition): Key[] {
  const sort = calendarSortKey(position.date, position.moment, position.id)
  const sorted = facetSortKey(position.facet, sort)
  return [
    { pk: calendarListPartition(clinic, letter, null), sk: sorted },
    ...(position.doctor === undefined
      ? []
      : [{ pk: calendarListPartition(clinic, letter, position.doctor), sk: sorted }]),
    { pk: ownerPartition(clinic, letter, 'patient', position.patient), sk: sort },
    ...(position.invoice === undefined
      ? []
      : [{ pk: ownerPartition(clinic, letter, 'invoice', position.invoice), sk: sort }]),
  ]
}

/** The attributes of a record's rows: all that lists show, or the small ones and the mark of a thin row. */
export function rowAttributes(
  attributes: Record<string, unknown>,
  { large, unlisted = [] }: { readonly large: readonly string[]; readonly unlisted?: readonly string[] },
): Record<string, unknown> {
  const without = (names: readonly string[], from: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)))
  const listed = without(unlisted, attributes)
  if (Buffer.byteLength(JSON.stringify(listed)) <= MAX_FULL_ROW_BYTES) return listed
  return { ...without(large, listed), t: 1 }
}

/** Day, moment and id, without the facet that sorted lists have before them. */
export const sortTimeOf = ({ sk }: Item): string => (sk.charAt(1) === '#' ? sk.slice(2) : sk)

export const idOf = ({ sk }: Item): string => longId(sk.slice(sk.lastIndexOf('#') + 1))
