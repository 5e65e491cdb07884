/**
 * Walking through a list by position instead of page number: records that are added or removed meanwhile move no other. A
 * position is a sort key of the list.
 */
import type { Page } from './paging.ts'

/** Some records of a list, and the position after which it goes on; null at the end. */
export type Walk<T> = { readonly items: readonly T[]; readonly next: string | null }

/** A page of a list that can be walked on from there. */
export type WalkablePage<T> = Page<T> & Pick<Walk<T>, 'next'>

/** Changes from one time to another, the latter excluded. Times are ISO 8601 instants. */
export type ChangeRange = {
  readonly from: string
  readonly until: string
  /** The position to go on from. */
  readonly after: string | undefined
}
