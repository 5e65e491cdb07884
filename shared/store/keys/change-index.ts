import type { ClinicId } from '../../domain/clinic.ts'
import type { EntityCode } from './calendar.ts'
import { type Key, longId, partition, shortId, sortableInstant } from './key.ts'

/** The kinds of records whose changes are indexed: patients, and the records of calendar lists by their entity codes. */
export const INDEXED_KINDS = ['P', 'A', 'I', 'Y', 'M'] as const satisfies readonly ('P' | EntityCode)[]
export type IndexedKind = (typeof INDEXED_KINDS)[number]

/** The records of one kind by the time of their last change, one item for each that consists of its key alone. */
export const changeIndexPartition = (clinic: ClinicId, kind: IndexedKind): string =>
  partition(clinic, `U${kind}`)

type Position = { readonly id: string; readonly updatedAt: string }

export const changeIndexSortKey = ({ id, updatedAt }: Position): string =>
  `${sortableInstant(updatedAt)}#${shortId(id)}`

export const changeIndexKey = (clinic: ClinicId, kind: IndexedKind, position: Position): Key => ({
  pk: changeIndexPartition(clinic, kind),
  sk: changeIndexSortKey(position),
})

/** The id of the record of an item. */
export const changedId = ({ sk }: Pick<Key, 'sk'>): string => longId(sk.slice(sk.indexOf('#') + 1))

/** Sorts before all items of this time and later, and after all items of earlier times. */
export const changesFrom = (instant: string): string => sortableInstant(instant)

/** Sorts after the item with this sort key, and before the next one. */
export const changesAfter = (sortKey: string): string => `${sortKey}~`
