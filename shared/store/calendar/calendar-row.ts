/** The list rows of a record: their keys and attributes. */
import type { ClinicId } from '../../domain/clinic.ts'
import {
  calendarListPartition,
  calendarSortKey,
  type EntityCode,
  facetSortKey,
  ownerPartition,
} from '../keys/calendar.ts'
import { type Key, longId } from '../keys/key.ts'
import { isListed } from '../table/attributes.ts'
import type { Item } from '../table/write-requests.ts'

/** Where a record is sorted in its lists, and whose lists they are. */
export type ListPosition = {
  readonly id: string
  /** One character of the entity's facets. */
  readonly facet: string
  /** Clinic-local `Y-m-d`, the date that filters use. */
  readonly date: string
  /** Sorts within the date. */
  readonly moment: string
  /** The end of an appointment that begins at `moment`. */
  readonly end?: string
  readonly patient: string
  readonly doctor?: string
  readonly invoice?: string
  /** Filters compare these; no list is sorted by them, and no tally counts them. */
  readonly room?: string | undefined
  readonly status?: string
  readonly number?: string
  readonly appointment?: string | undefined
  /** The doctor of an invoice: doctors have no lists of invoices. */
  readonly billedDoctor?: string | undefined
}

/** A row of more bytes, as JSON, leaves out the large attributes. */
const MAX_FULL_ROW_BYTES = 700

/** The keys of all rows of a record: in the lists of its clinic and doctor, patient and invoice. */
export function rowKeys(clinic: ClinicId, entityCode: EntityCode, position: ListPosition): Key[] {
  const sort = calendarSortKey(position.date, position.moment, position.id)
  const sorted = facetSortKey(position.facet, sort)
  return [
    { pk: calendarListPartition(clinic, entityCode, null), sk: sorted },
    ...(position.doctor === undefined
      ? []
      : [{ pk: calendarListPartition(clinic, entityCode, position.doctor), sk: sorted }]),
    { pk: ownerPartition(clinic, entityCode, 'patient', position.patient), sk: sort },
    ...(position.invoice === undefined
      ? []
      : [{ pk: ownerPartition(clinic, entityCode, 'invoice', position.invoice), sk: sort }]),
  ]
}

/** The attributes of a record's rows: all listed ones, or the small ones and the mark of a thin row (`t`). */
export function rowAttributes(
  attributes: Record<string, unknown>,
  { large, unlisted = [] }: { readonly large: readonly string[]; readonly unlisted?: readonly string[] },
): Record<string, unknown> {
  const without = (names: readonly string[], from: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(from).filter(([name]) => isListed(name, names)))
  const listed = without(unlisted, attributes)
  if (Buffer.byteLength(JSON.stringify(listed)) <= MAX_FULL_ROW_BYTES) return listed
  return { ...without(large, listed), t: 1 }
}

/** Day, moment and id, without the facet that sorted lists have before them. */
export const sortTimeOf = ({ sk }: Item): string => (sk.charAt(1) === '#' ? sk.slice(2) : sk)

export const idOf = ({ sk }: Item): string => longId(sk.slice(sk.lastIndexOf('#') + 1))
