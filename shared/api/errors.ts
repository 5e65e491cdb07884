import type { Scope } from '../domain/scope.ts'
import { type ErrorKey, errorEntry, type RecordNotFoundKey } from './error-catalogue.ts'

/** An invalid field, and what is wrong with it. */
export type FieldIssue = { readonly field: string; readonly issue: string }

/** The first issue of each field. */
export const byField = (issues: readonly FieldIssue[]): FieldIssue[] => {
  const first = new Map(issues.toReversed().map((issue) => [issue.field, issue]))
  return issues.filter((issue) => first.get(issue.field) === issue)
}

/** The most items in `details`: a request of 256 KiB can have a hundred thousand invalid fields. */
export const MAX_DETAILS = 20

/** The longest name of a field in `details`, in UTF-16 units. Names of unknown fields are as long as the caller likes. */
export const MAX_FIELD_LENGTH = 100

/** The JSON body of an error; `message` is a translation key. */
export type ErrorBody = {
  error: string
  message: string
  details?: readonly object[]
  /** The number of items that `details` leaves out; absent if it has all of them. */
  details_omitted?: number
}

/** The body of an error. It stays small whatever the request contained. */
export function errorBody(key: ErrorKey, details?: readonly object[]): ErrorBody {
  const body = { error: errorEntry(key).error, message: `errors.developer_api.${key}` }
  if (!details) return body
  const omitted = details.length - MAX_DETAILS
  return {
    ...body,
    details: details.slice(0, MAX_DETAILS).map(withShortField),
    ...(omitted > 0 && { details_omitted: omitted }),
  }
}

function withShortField(detail: object): object {
  const { field } = detail as Partial<FieldIssue>
  if (field === undefined || field.length <= MAX_FIELD_LENGTH) return detail
  return { ...detail, field: `${field.slice(0, MAX_FIELD_LENGTH - 1)}…` }
}

/** An error of the catalogue. Endpoints throw it, and it is rendered as the error response. The log gets the origin of `cause`. */
export class ApiError extends Error {
  readonly key: ErrorKey
  readonly details: readonly object[] | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    key: ErrorKey,
    options: { details?: readonly object[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(key, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ApiError'
    this.key = key
    this.details = options.details
    this.headers = options.headers ?? {}
  }
}

/** The error for unknown ids in these fields of a body. */
export const unknownIds = (key: RecordNotFoundKey, ...fields: readonly string[]): ApiError =>
  new ApiError(key, { details: fields.map((field) => ({ field })) })

/** The error for a missing, wrong or revoked credential. */
export const unauthorized = (): ApiError =>
  new ApiError('unauthorized', { headers: { 'www-authenticate': 'Developer' } })

/** The error for a credential without these scopes. */
export const missingScope = (scopes: readonly Scope[]): ApiError =>
  new ApiError('missing_scope', { details: scopes.map((scope) => ({ scope })) })
