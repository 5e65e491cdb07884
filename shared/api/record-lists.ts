/** The contract of lists of records: by page, by cursor, and by the time of the last change. */
import * as z from 'zod'
import { parseInstant } from '../domain/timestamp.ts'
import { INVALID_CURSOR, oneOf, paging, Timestamp, whenValid } from './schemas.ts'

const InstantParameter = z
  .string()
  .refine((text) => parseInstant(text) !== null, {
    error:
      'must be a timestamp with an offset or Z, such as 2026-05-01T10:00:00%2B03:00, where %2B is an encoded plus sign',
  })
  .transform((text) => parseInstant(text) ?? text)
  .meta({ format: 'date-time' })

/** Query parameters of every list of records. */
export const recordPaging = {
  page: paging.page.unwrap().optional().meta({
    default: 1,
  }),
  limit: paging.limit,
  after: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,200}$/, { error: INVALID_CURSOR })
    .optional(),
  updated_since: InstantParameter.optional(),
}

/** The order of a list that is sorted by time. */
export const order = oneOf(['asc', 'desc']).optional().meta({ default: 'desc' })

/** The query of a list of records with these filters. */
export function recordListQuery<Filters extends z.ZodRawShape>(filters: Filters) {
  let query = z.strictObject({ ...recordPaging, ...filters }).refine(excludes('page', 'after'), {
    path: ['page'],
    error: 'must not be combined with after',
    when: whenValid('page', 'after'),
  })
  if ('external_id' in filters)
    for (const name of ['page', 'after', ...Object.keys(filters)].filter(
      (one) => !['external_id', 'expand'].includes(one),
    ))
      query = query.refine(excludes(name, 'external_id'), {
        path: [name],
        error: 'must not be combined with external_id',
        when: whenValid(name, 'external_id'),
      })
  for (const name of ['page', ...Object.keys(filters)])
    query = query.refine(excludes(name, 'updated_since'), {
      path: [name],
      error: 'must not be combined with updated_since',
      when: whenValid(name, 'updated_since'),
    })
  return query
}

const excludes = (one: string, other: string) => (query: Readonly<Record<string, unknown>>) =>
  query[one] === undefined || query[other] === undefined

const RecordListMeta = z
  .strictObject({
    page: z.int().min(1).optional(),
    limit: z.int().min(1),
    total: z.int().min(0).optional(),
    total_pages: z.int().min(0).optional(),
    next_after: z.string().nullable(),
    has_more: z.boolean().optional(),
    as_of: Timestamp.optional(),
  })
  .meta({ id: 'RecordListMeta' })

/** The envelope of a list of records. */
export const recordListOf = <T extends z.ZodType>(record: T) =>
  z.strictObject({ data: z.array(record), meta: RecordListMeta })

/** The parsed query of any list of records. */
export type RecordListQuery = {
  readonly page?: number | undefined
  readonly limit: number
  readonly after?: string | undefined
  /** ISO 8601 instant. */
  readonly updated_since?: string | undefined
} & Readonly<Record<string, unknown>>
