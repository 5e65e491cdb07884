/** The contract of lists of records: by page, by cursor, and by the time of the last change. */
import * as z from 'zod'
import { parseInstant } from '../domain/timestamp.ts'
import { INVALID_CURSOR, oneOf, paging, Timestamp, whenValid } from './schemas.ts'

const instantParameter = () =>
  z
    .string()
    .refine((text) => parseInstant(text) !== null, {
      error:
        'must be a timestamp with an offset or Z, such as 2026-05-01T10:00:00%2B03:00, where %2B is an encoded plus sign',
    })
    .transform((text) => parseInstant(text) ?? text)
    .meta({ format: 'date-time' })

/** Query parameters of every list of records. */
export function recordPaging() {
  const { page, limit } = paging()
  return {
    page: page.unwrap().optional().meta({ default: 1 }),
    limit,
    after: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,200}$/, { error: INVALID_CURSOR })
      .optional(),
    updated_since: instantParameter().optional(),
  }
}

/** The order of a list that is sorted by time. */
export const order = () => oneOf(['asc', 'desc']).optional().meta({ default: 'desc' })

export function recordListQuery<Filters extends z.ZodRawShape>(filters: Filters) {
  const names = ['page', ...Object.keys(filters)]
  const others = names.filter((name) => !['external_id', 'expand'].includes(name))
  return z
    .strictObject({ ...recordPaging(), ...filters })
    .check(
      excludes('page', 'after'),
      ...('external_id' in filters ? ['after', ...others].map((name) => excludes(name, 'external_id')) : []),
      ...names.map((name) => excludes(name, 'updated_since')),
    )
}

const excludes = (one: string, other: string) =>
  z.refine<Readonly<Record<string, unknown>>>(
    (query) => query[one] === undefined || query[other] === undefined,
    { path: [one], error: `must not be combined with ${other}`, when: whenValid(one, other) },
  )

const RecordListMeta = z.lazy(() =>
  z
    .strictObject({
      page: z.int().min(1).optional(),
      limit: z.int().min(1),
      total: z.int().min(0).optional(),
      total_pages: z.int().min(0).optional(),
      next_after: z.string().nullable(),
      has_more: z.boolean().optional(),
      as_of: Timestamp.optional(),
    })
    .meta({ id: 'RecordListMeta' }),
)

export const recordListOf = <T extends z.ZodType>(record: T) =>
  z.lazy(() => z.strictObject({ data: z.array(record), meta: RecordListMeta }))

/** The parsed query of any list of records. */
export type RecordListQuery = {
  readonly page?: number | undefined
  readonly limit: number
  readonly after?: string | undefined
  /** ISO 8601 instant. */
  readonly updated_since?: string | undefined
} & Readonly<Record<string, unknown>>
