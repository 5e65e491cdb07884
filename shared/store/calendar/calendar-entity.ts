import type { EventDraft } from '../../domain/webhooks/event.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import type { Provenance } from '../external-ids/provenance.ts'
import type { EntityCode } from '../keys/calendar.ts'
import type { Changeset } from '../table/changeset.ts'
import type { Item } from '../table/write-requests.ts'
import type { ListPosition } from './calendar-row.ts'

/** How records of one kind are stored, listed and counted. */
export type CalendarEntity<R, F extends string> = {
  readonly entityCode: EntityCode
  /** The values that lists are sorted and counted by (statuses, channels), each as one character. */
  readonly facets: Readonly<Record<F, string>>
  readonly position: (record: R) => ListPosition
  /** ISO 8601 instant. */
  readonly createdAt: (record: R) => string
  /** The attributes of a record, short names; `large` ones are left out of a row that would be too large. */
  readonly encode: (record: WithUpdatedAt<R>) => Record<string, unknown>
  /** The inverse of `encode`. A thin row lacks the large attributes. */
  readonly decode: (item: Item, id: string) => WithUpdatedAt<R>
  readonly large: readonly string[]
  /** Attributes that only the record contains, not its rows. */
  readonly unlisted?: readonly string[]
  /** The names of the attributes that are amounts of money. */
  readonly amounts?: readonly string[]
  /** The event that a change makes, if any. */
  readonly eventDraft: (before: R | null, after: R) => EventDraft | null
  /** Adds other changes that follow from a change of a record, such as the doctor's busy times. `after` is null for one that is removed. */
  readonly onChange?: (changeset: Changeset, before: R | null, after: R | null) => void
}

/** A record as it was read, with the version that a change of it is conditional on. */
export type StoredRecord<R> = Provenance & {
  readonly record: WithUpdatedAt<R>
  readonly version: number
  /** The number of the record's events so far. */
  readonly events: number
}
