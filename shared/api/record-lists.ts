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
  page: paging.page
    .unwrap()
    .optional()
    .meta({
      default: 1,
      description:
        'Page number, starting at 1. A page past the last one is empty and has the same `meta` totals. Not together with ' +
        '`after`.',
    }),
  limit: paging.limit,
  after: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,200}$/, { error: INVALID_CURSOR })
    .optional()
    .meta({
      description:
        'The `next_after` of a response to a request for the same list with the same filters. The list continues from there: ' +
        'records that were added or removed since move no other.',
    }),
  updated_since: InstantParameter.optional().meta({
    description:
      'Lists all records that were changed at this time or later, however they were changed, by `updated_at`, oldest first. ' +
      'Only together with `limit` and `after`. The list ends at `meta.as_of`, 20 seconds ago; pass that as the next ' +
      '`updated_since`. A page may have fewer records than `limit`.',
  }),
}

/** The order of a list that is sorted by time. */
export const order = oneOf(['asc', 'desc'])
  .optional()
  .meta({ default: 'desc', description: 'Newest first (`desc`), or oldest first (`asc`).' })

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
    total: z.int().min(0).optional().meta({ description: 'Exact number of records on all pages.' }),
    total_pages: z.int().min(0).optional().meta({ description: '0 when `total` is 0.' }),
    next_after: z.string().nullable().meta({
      description: 'Pass it as `after`, without `page`, to continue the list. Null at the end.',
    }),
    has_more: z.boolean().optional(),
    as_of: Timestamp.optional().meta({
      description:
        'The list contains all changes before this time. Pass it as the next `updated_since` when `next_after` is null.',
    }),
  })
  .meta({
    id: 'RecordListMeta',
    description:
      '`page`, `total` and `total_pages` are absent, and `has_more` is present, if the request has `after` or `updated_since`. ' +
      '`as_of` is present with `updated_since`.',
  })

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
