/** Iteration over lists, page by page. */
import { UnexpectedResponseError } from './errors.ts'
import { sleep } from './transport.ts'

type Page = {
  readonly data: readonly unknown[]
  readonly meta: {
    readonly total_pages?: number
    readonly next_after?: string | null
    readonly has_more?: boolean
    readonly as_of?: string
  }
}
/** Requests one page. */
export type GetPage = (query: object, signal: AbortSignal | undefined) => Promise<Page>

/** A change is listed 20 seconds after it was made: `as_of` is that long ago, without the fraction of its second. */
const VISIBILITY_DELAY_MS = 21_000

/** A time with `Z` or an offset. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i

/**
 * The pages of a list. Continues by cursor where the list has one, so that it skips and repeats no record while others are added
 * or removed, otherwise by page number.
 */
export async function* pagesOf(get: GetPage, query: object = {}, signal?: AbortSignal): AsyncGenerator<Page> {
  const cursors = new Set<string>()
  for (let page = 1, position: { after?: string; page?: number } | null = {}; position; page++) {
    const response = await get({ limit: 100, ...query, ...position }, signal)
    yield response
    position = nextOf(response, page, cursors)
  }
}

/** The records of pages. */
export async function* recordsOf(pages: AsyncGenerator<Page>): AsyncGenerator<unknown> {
  for await (const { data } of pages) yield* data
}

/** Where a list continues. Throws if a page does not say so, or leads back to an earlier one. */
function nextOf(
  { data, meta }: Page,
  page: number,
  cursors: Set<string>,
): { after?: string; page?: number } | null {
  const { next_after: after, has_more: hasMore, total_pages: last } = meta
  if (after === null || (typeof after === 'string' && hasMore === false)) return null
  if (typeof after === 'string' && !cursors.has(after)) {
    cursors.add(after)
    return { after }
  }
  if (after !== undefined || typeof last !== 'number') throw unexpected()
  return data.length > 0 && page < last ? { page: page + 1 } : null
}

const unexpected = () => new UnexpectedResponseError(200, '', null, null)

export type ChangesOptions = {
  /** A time with `Z` or an offset, to begin with, or the `position` of a page, to continue after it. */
  readonly since: string
  /** Never ends, and requests new changes every 20 seconds. By default, ends with the changes made before the first request. */
  readonly follow?: boolean
  readonly signal?: AbortSignal
}

/**
 * The pages of records that were changed. A change is listed after 20 seconds, so the iteration waits for those that were made
 * before it began. A position is `as_of`, and the cursor while a list of several pages is read.
 */
export async function* changesOf(
  get: GetPage,
  { since, follow = false, signal }: ChangesOptions = { since: '' },
): AsyncGenerator<Page & { position: string }> {
  let [time = '', cursor] = typeof since === 'string' ? since.split('|') : []
  if (!TIME.test(time))
    throw new TypeError('since must be a position, or a time such as 2026-05-04T12:00:00+03:00')
  let end = follow ? Number.POSITIVE_INFINITY : undefined
  let complete = Number.NEGATIVE_INFINITY
  let cursors = new Set<string>()
  for (;;) {
    const page = await get({ limit: 100, updated_since: time, after: cursor }, signal)
    const asOf = Date.parse(page.meta.as_of ?? '')
    cursor = nextOf(page, 1, cursors)?.after
    // The time advances between two lists, which are 20 seconds apart.
    if (Number.isNaN(asOf) || (cursor === undefined && asOf <= complete)) throw unexpected()
    end ??= asOf + VISIBILITY_DELAY_MS
    // A `since` in the future stays.
    if (cursor === undefined && !(Date.parse(time) > asOf)) time = String(page.meta.as_of)
    yield { ...page, position: cursor === undefined ? time : `${time}|${cursor}` }
    if (cursor !== undefined) continue
    if (asOf >= end) return
    complete = asOf
    cursors = new Set()
    await sleep(Math.min(end - asOf, VISIBILITY_DELAY_MS), signal)
  }
}
