import * as z from 'zod'
import type { PersonReference } from '../domain/appointment.ts'
import { MAX_LIMIT, MAX_PAGE, type Page, type PageRequest, totalPages } from '../domain/paging.ts'
import { multiLineText, singleLineText } from '../domain/text-fields.ts'
import { isCalendarDate } from '../domain/timestamp.ts'
import { isUuid } from '../domain/uuid.ts'
import { ApiError } from './errors.ts'

/** A UUID in any version, in lower case once parsed. */
export const Uuid = z
  .string({ error: 'must be a UUID' })
  .refine(isUuid, { error: 'must be a UUID' })
  .overwrite((id) => id.toLowerCase())
  .meta({ format: 'uuid' })

export const CalendarDate = z
  .string({ error: 'must be a date that exists, as YYYY-MM-DD' })
  .refine(isCalendarDate, { error: 'must be a date that exists, as YYYY-MM-DD' })
  .meta({ format: 'date' })

export const Timestamp = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/)
  .meta({ format: 'date-time', description: "With the offset of the clinic's time zone at that moment." })

/** One line of 1 to `max` characters, in a body. */
export const shortText = (max: number) => singleLineText(max).meta({ maxLength: max })

/** Text with line breaks of at most `max` characters, in a body. */
export const longText = (max: number) => multiLineText(max).meta({ maxLength: max })

/** Text of at most `max` characters (code points, as JSON Schema counts them). */
export const text = (max: number) =>
  z
    .string({ error: 'must be text' })
    .refine((value) => value.length <= max || [...value].length <= max, {
      error: `must have at most ${max} characters`,
    })
    .meta({ maxLength: max })

/** A plain decimal integer in a query string; `1e3`, `+1`, `01` and an empty value are not. */
const wholeNumber = (max: number, fallback: number) =>
  z
    .string()
    .refine((digits) => /^[1-9]\d{0,8}$/.test(digits) && Number(digits) <= max, {
      error: `must be a whole number from 1 to ${max}`,
    })
    .transform(Number)
    .default(fallback)
    .meta({ type: 'integer', minimum: 1, maximum: max, default: fallback })

/** Query parameters of every paginated list (spec section 8). */
export const paging = {
  page: wholeNumber(MAX_PAGE, 1).meta({
    description: 'Counts from 1. A page past the last one is empty, and has the true `meta`.',
  }),
  limit: wholeNumber(MAX_LIMIT, 20).meta({ description: 'Records on a page.' }),
}

/** One of a closed set, named when it is missed. */
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` })

/** Wall-clock `HH:MM`. */
export const TimeOfDay = z
  .string({ error: 'must be a time from 00:00 to 23:59, as HH:MM' })
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time from 00:00 to 23:59, as HH:MM' })

/** Refuses a range of dates that ends before it begins. */
export const validDateRange =
  (from: string, to: string) =>
  (query: Record<string, unknown>, context: z.RefinementCtx): void => {
    const [start, end] = [query[from], query[to]]
    if (typeof start === 'string' && typeof end === 'string' && start > end) {
      context.addIssue({ code: 'custom', path: [from], message: `must not be after ${to}` })
    }
  }

/** Somebody as other records name them. */
export const PersonRef = z.strictObject({ id: Uuid, full_name: z.string() }).meta({ id: 'PersonRef' })

export const renderPersonRef = ({ id, fullName }: PersonReference): z.input<typeof PersonRef> => ({
  id,
  full_name: fullName,
})

/** The envelope of a single record. */
export const envelopeOf = <T extends z.ZodType>(record: T) => z.strictObject({ data: record })

const PageMeta = z
  .strictObject({
    page: z.int().min(1),
    limit: z.int().min(1),
    total: z.int().min(0).meta({ description: 'Records of the whole list: exact.' }),
    total_pages: z.int().min(0).meta({ description: '0 when `total` is 0.' }),
  })
  .meta({ id: 'PageMeta' })

/** The envelope of a paginated list. */
export const pageOf = <T extends z.ZodType>(record: T) =>
  z.strictObject({
    data: z.array(record),
    meta: PageMeta,
  })

/** Query parameters of lists that are walked by a cursor: a log has no total that stands still. */
export const cursorPaging = {
  after: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'must be a next_after of an earlier answer' })
    .optional()
    .meta({ description: 'The `next_after` of the answer before. Without it, the list begins.' }),
  limit: paging.limit,
}

const CursorMeta = z
  .strictObject({
    limit: z.int().min(1),
    next_after: z.string().nullable().meta({
      description: 'Where the next request goes on: its `after`. Null before there was anything.',
    }),
    has_more: z.boolean(),
  })
  .meta({ id: 'CursorMeta' })

/** The envelope of a list that is walked by a cursor. */
export const cursorPageOf = <T extends z.ZodType>(record: T) =>
  z.strictObject({
    data: z.array(record),
    meta: CursorMeta,
  })

/** Renders a page of records into the envelope of {@link pageOf}. */
export function renderPage<T, W>(page: Page<T>, request: PageRequest, render: (item: T) => W) {
  return {
    data: page.items.map(render),
    meta: {
      page: request.page,
      limit: request.limit,
      total: page.total,
      total_pages: totalPages(page.total, request.limit),
    },
  }
}

/** Renders a page of a log into the envelope of {@link cursorPageOf}. */
export function renderCursorPage<T, W>(
  page: { readonly items: readonly T[]; readonly nextAfter: string | null; readonly hasMore: boolean },
  { limit }: { readonly limit: number },
  render: (item: T) => W,
) {
  return {
    data: page.items.map(render),
    meta: { limit, next_after: page.nextAfter, has_more: page.hasMore },
  }
}

/** A cursor of the right form that none of our answers gave. */
export const invalidCursor = () =>
  new ApiError('invalid_params', {
    details: [{ field: 'after', issue: 'must be a next_after of an earlier answer' }],
  })
