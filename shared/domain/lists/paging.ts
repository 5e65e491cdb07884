export const MAX_PAGE = 1_000_000
export const MAX_LIMIT = 100
/** A filter that no tally counts is exact only if all records of a range are read. */
export const MAX_RANGE_DAYS = 31
/** The records that a page with a filter that no tally counts reads at most. */
export const MAX_UNCOUNTED_ROWS = 5_000

/** The requested page of a list; `page` starts at 1. */
export type PageRequest = { readonly page: number; readonly limit: number }

/** One page, and the exact number of records in the list. */
export type Page<T> = { readonly items: T[]; readonly total: number }

export const offsetOf = ({ page, limit }: PageRequest): number => (page - 1) * limit

/** The number of pages for `total` records; 0 if there are none. */
export const totalPages = (total: number, limit: number): number => Math.ceil(total / limit)

/**
 * The ordinals of a page of a list in descending order, both inclusive; null past the last page. `count` records have the
 * ordinals 0..count-1.
 */
export function descendingOrdinals(count: number, request: PageRequest): { from: number; to: number } | null {
  const to = count - 1 - offsetOf(request)
  if (to < 0) return null
  return { from: Math.max(0, to - request.limit + 1), to }
}
