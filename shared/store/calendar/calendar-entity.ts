import type { EventDraft } from '../../domain/event.ts'
import type { CalendarLetter } from '../keys/calendar.ts'
import type { Changeset } from '../table/changeset.ts'
import type { Item } from '../table/table.ts'
import type { ListPosition } from './calendar-row.ts'

/** How records of one kind are stored, listed and counted. */
export type CalendarEntity<R, F extends string> = {
  readonly letter: CalendarLetter
  /** The values that lists are sorted and counted by (statuses, channels), each as one character. */
  readonly facets: Readonly<Record<F, string>>
  readonly position: (record: R) => ListPosition
  /** The attributes of a record, short names; `large` ones are left out of a row that would be too large. */
  readonly encode: (record: R) => Record<string, unknown>
  /** The inverse; a thin row lacks the large attributes. */
  readonly decode: (item: Item, id: string) => R
  readonly large: readonly string[]
  /** Attributes that no row holds, only the record. */
  readonly unlisted?: readonly string[]
  /** The event that a change makes, if any. */
  readonly eventDraft: (before: R | null, after: R) => EventDraft | null
  /** Adds what else changes with a record, such as the time that it takes of its doctor. */
  readonly onChange?: (changeset: Changeset, before: R | null, after: R) => void
}

/** A record as it was read, with the version that a change of it is conditional on. */
export type StoredRecord<R> = {
  readonly record: R
  readonly version: number
  /** How many events the record has made. */
  readonly events: number
}
