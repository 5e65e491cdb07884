/**
 * Cursors read a list from a sort key instead of by page number, so records that are added or removed in the meantime move no
 * other. In responses they are encoded (requests/record-list.ts).
 */
import type { Page } from './paging.ts'

/** Some records of a list, and the cursor after which the next page starts; null at the end. */
export type CursorPage<T> = { readonly items: readonly T[]; readonly next: string | null }

/** A page of a list by its number, with the cursor after it. */
export type NumberedPage<T> = Page<T> & Pick<CursorPage<T>, 'next'>

/** Changes from one time to another, the latter excluded. Times are ISO 8601 instants. */
export type ChangeRange = {
  readonly from: string
  readonly until: string
  /** The cursor after which the changes start; undefined for the first page. */
  readonly after: string | undefined
}
