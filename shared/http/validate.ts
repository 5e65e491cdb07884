import type * as z from 'zod'
import type { ErrorKey } from '../api/error-catalogue.ts'
import { ApiError, byField, type FieldIssue } from '../api/errors.ts'
import { INVALID_CURSOR, RANGE_REQUIRED } from '../api/schemas.ts'
import { unknownField } from '../api/suggest-field.ts'
import { isUuid } from '../domain/uuid.ts'

type QueryValues = Record<string, string[] | undefined>

/** Parses a query. @throws ApiError that names every invalid parameter */
export function parseQuery(schema: z.ZodObject | undefined, sent: QueryValues): Record<string, unknown> {
  const known = schema?.shape ?? {}
  const issues: FieldIssue[] = []
  const values: Record<string, string> = {}
  for (const [field, [value, ...more]] of Object.entries(sent).map(
    ([name, list]) => [name, list ?? []] as const,
  )) {
    if (!Object.hasOwn(known, field))
      issues.push(unknownField(field, 'is not a parameter of this endpoint', Object.keys(known), issues))
    else if (more.length > 0) issues.push({ field, issue: 'must not be repeated' })
    // The gateway replaces bytes that are not UTF-8.
    else if (value?.includes('\uFFFD')) issues.push({ field, issue: 'must be UTF-8' })
    else if (value !== undefined) values[field] = value
  }
  const parsed = schema?.safeParse(values)
  for (const { path, message } of parsed?.error?.issues ?? []) {
    const field = path.join('.')
    issues.push({ field, issue: Object.hasOwn(sent, field) ? message : 'is required' })
  }
  if (issues.length > 0) throw new ApiError(errorKeyOf(issues), { details: byField(issues) })
  return parsed?.data ?? {}
}

/** A cursor and a missing range have errors of their own, unless other parameters are invalid too. */
function errorKeyOf(issues: readonly FieldIssue[]): ErrorKey {
  if (issues.every(({ issue }) => issue === INVALID_CURSOR)) return 'invalid_cursor'
  return issues.every(({ issue }) => issue === RANGE_REQUIRED) ? 'range_required' : 'invalid_params'
}

/** Path parameters are ids. A malformed id is not found, like an unknown one. */
export function parsePath(
  params: Readonly<Record<string, ErrorKey>> = {},
  sent: Record<string, string | undefined> = {},
): Record<string, string> {
  const ids: Record<string, string> = {}
  for (const [name, notFound] of Object.entries(params)) {
    const id = sent[name] ?? ''
    if (!isUuid(id)) throw new ApiError(notFound)
    ids[name] = id.toLowerCase()
  }
  return ids
}
