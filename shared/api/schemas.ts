import * as z from 'zod'
import type { CatalogueReference as CatalogueRecord, PersonReference } from '../domain/booking/appointment.ts'
import {
  MAX_LIMIT,
  MAX_PAGE,
  MAX_RANGE_DAYS,
  MAX_UNCOUNTED_ROWS,
  type Page,
  type PageRequest,
  totalPages,
} from '../domain/lists/paging.ts'
import { isCalendarDate, LAST_DATE } from '../domain/timestamp.ts'
import { isUuid } from '../domain/uuid.ts'
import { ApiError } from './errors.ts'

// Schemas of requests parse a few times in a process: generated code would take longer to make than it saves.
z.config({ jitless: true })

/** A UUID of any version. Parsing converts it to lower case. */
export const Uuid = z
  .string({ error: 'must be a UUID' })
  .refine(isUuid, { error: 'must be a UUID' })
  .overwrite((id) => id.toLowerCase())
  .meta({ format: 'uuid' })

export const CalendarDate = z
  .string({ error: 'must be a date that exists, as YYYY-MM-DD' })
  .refine(isCalendarDate, { error: 'must be a date that exists, as YYYY-MM-DD' })
  .meta({ format: 'date' })

/** A date that a record can have. */
export const RecordDate = CalendarDate.refine((date) => !isCalendarDate(date) || date <= LAST_DATE, {
  error: `must not be after ${LAST_DATE}`,
})

export const Timestamp = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/)
  .meta({
    format: 'date-time',
  })

/** A plain decimal integer in a query string. Rejects `1e3`, `+1`, `01` and an empty value. */
export const wholeNumber = (max: number, fallback: number) =>
  z
    .string()
    .refine((digits) => /^[1-9]\d{0,8}$/.test(digits) && Number(digits) <= max, {
      error: `must be a whole number from 1 to ${max}`,
    })
    .transform(Number)
    .meta({ type: 'integer', minimum: 1, maximum: max })
    .default(fallback)
    .meta({ default: fallback })

/** `true` or `false` in a query string. */
export const queryBoolean = () =>
  z
    .string()
    .refine((value) => value === 'true' || value === 'false', { error: 'must be true or false' })
    .transform((value) => value === 'true')
    .meta({ type: 'boolean' })

/** Query parameters of every paginated list. */
export const paging = () => ({
  page: wholeNumber(MAX_PAGE, 1),
  limit: wholeNumber(MAX_LIMIT, 20),
})

/** Query parameters of a paginated list of records that can be inactive. */
export const activePaging = () => ({
  ...paging(),
  is_active: queryBoolean().optional(),
})

/** One of a fixed set of values. The error lists them. */
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` })

/** Some of a fixed set of values, separated by commas in a query string. */
export function someOf<const T extends readonly [string, ...string[]]>(values: T) {
  const isValue = (text: string): text is T[number] => values.includes(text)
  const one = `(${values.join('|')})`
  return z
    .string()
    .refine((text) => text.split(',').every(isValue), {
      error: `must be one or more of ${values.join(', ')}, separated by commas`,
    })
    .transform((text): T[number][] => {
      const sent = new Set(text.split(','))
      return values.filter((value) => sent.has(value))
    })
    .meta({ pattern: `^${one}(,${one})*$` })
}

/** Wall-clock `HH:MM`. */
export const TimeOfDay = z
  .string({ error: 'must be a time from 00:00 to 23:59, as HH:MM' })
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time from 00:00 to 23:59, as HH:MM' })

/**
 * For the `when` of a check that compares fields: it runs unless one of these fields is invalid by itself. By default, zod
 * skips such checks if any field is invalid, and the error would not name every wrong field.
 */
export const whenValid =
  (...fields: readonly string[]) =>
  ({ issues }: z.core.ParsePayload): boolean =>
    !issues.some(({ path }) => fields.includes(String(path?.[0])))

/** The arguments of a `refine` that rejects a date range that ends before it begins. */
export function validDateRange(from: string, to: string) {
  const isOrdered = (query: Readonly<Record<string, unknown>>): boolean => {
    const [start, end] = [query[from], query[to]]
    return typeof start !== 'string' || typeof end !== 'string' || start <= end
  }
  const options = { path: [from], error: `must not be after ${to}`, when: whenValid(from, to) }
  return [isOrdered, options] satisfies Parameters<z.ZodObject['refine']>
}

const DAY_MS = 86_400_000

/** Without Intl, whose first use takes milliseconds: every function loads this file. */
const thousands = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')

/** The issue of a filter that needs a range of dates. */
export const RANGE_REQUIRED = `requires a range of dates of at most ${MAX_RANGE_DAYS} days and ${thousands(MAX_UNCOUNTED_ROWS)} records`

/** Filters that select few records. */
const SELECTIVE = ['patient_id', 'invoice_number', 'external_id']

/** The arguments of a `refine` that rejects a filter without a range of dates, unless another filter selects few records. */
export function requiredRange(filter: string, from: string, to: string) {
  const isReadable = (query: Readonly<Record<string, unknown>>): boolean =>
    query[filter] === undefined ||
    SELECTIVE.some((name) => query[name] !== undefined) ||
    Date.parse(String(query[to])) - Date.parse(String(query[from])) < MAX_RANGE_DAYS * DAY_MS
  const options = { path: [filter], error: RANGE_REQUIRED, when: whenValid(filter, ...SELECTIVE, from, to) }
  return [isReadable, options] satisfies Parameters<z.ZodObject['refine']>
}

/** The error for a filter whose range has too many records. */
export const rangeRequired = (field: string) =>
  new ApiError('range_required', { details: [{ field, issue: RANGE_REQUIRED }] })

/**
 * A patient or doctor, as referenced by other records. Schemas of responses are lazy: in production nothing reads them, and making
 * them takes a function longer than its own work.
 */
export const PersonRef = z.lazy(() =>
  z.strictObject({ id: Uuid, full_name: z.string() }).meta({ id: 'PersonRef' }),
)

export const renderPersonRef = ({ id, fullName }: PersonReference): z.input<typeof PersonRef> => ({
  id,
  full_name: fullName,
})

/** A treatment or room, as referenced by other records. */
export const CatalogueReference = z.lazy(() =>
  z.strictObject({ id: Uuid, name: z.string() }).meta({ id: 'CatalogueReference' }),
)

export const renderCatalogueReference = ({
  id,
  name,
}: CatalogueRecord): z.input<typeof CatalogueReference> => ({ id, name })

/** The fields of a record that any caller may see, and those that the request had. */
export function sentFields(record: object, sent: object, always: readonly string[]): object {
  const isShown = (name: string) => always.includes(name) || Object.hasOwn(sent, name)
  return Object.fromEntries(Object.entries(record).filter(([name]) => isShown(name)))
}

export const envelopeOf = <T extends z.ZodType>(record: T) => z.lazy(() => z.strictObject({ data: record }))

const PageMeta = z.lazy(() =>
  z
    .strictObject({
      page: z.int().min(1),
      limit: z.int().min(1),
      total: z.int().min(0),
      total_pages: z.int().min(0),
    })
    .meta({ id: 'PageMeta' }),
)

/** The envelope of a paginated list. */
export const pageOf = <T extends z.ZodType>(record: T) =>
  z.lazy(() => z.strictObject({ data: z.array(record), meta: PageMeta }))

/** The issue of a cursor that no response contained. */
export const INVALID_CURSOR = 'must be the next_after of an earlier response'

/** Query parameters of lists that are paginated by cursor. */
export const cursorPaging = () => ({
  after: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, { error: INVALID_CURSOR })
    .optional(),
  limit: paging().limit,
})

export const CursorMeta = z.lazy(() =>
  z
    .strictObject({
      limit: z.int().min(1),
      next_after: z.string().nullable(),
      has_more: z.boolean(),
    })
    .meta({ id: 'CursorMeta' }),
)

/** The envelope of a list that is paginated by cursor. */
export const cursorPageOf = <T extends z.ZodType, M extends z.ZodType>(record: T, meta: M) =>
  z.lazy(() => z.strictObject({ data: z.array(record), meta }))

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

/** Renders a page of a cursor list into the envelope of {@link cursorPageOf}. */
export function renderCursorPage<T, W, Next extends string | null>(
  page: { readonly items: readonly T[]; readonly nextAfter: Next; readonly hasMore: boolean },
  { limit }: { readonly limit: number },
  render: (item: T) => W,
) {
  return {
    data: page.items.map(render),
    meta: { limit, next_after: page.nextAfter, has_more: page.hasMore },
  }
}

/** The error for a well-formed cursor that the list did not issue. */
export const invalidCursor = () =>
  new ApiError('invalid_cursor', {
    details: [{ field: 'after', issue: INVALID_CURSOR }],
  })

/** The error for a time of changes that a restore of the clinic has undone. */
export const undoneTime = () =>
  new ApiError('invalid_cursor', {
    details: [
      { field: 'updated_since', issue: 'is a time whose changes were undone: read the whole list again' },
    ],
  })

/** The body of an action: none, or an empty object. */
export const NoFields = z.strictObject({}).meta({ id: 'NoFields' })
