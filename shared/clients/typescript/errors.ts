/** What a call throws: an `ApiError` for a response, a `NoResponseError` if none arrived. `/errors.json` is the catalogue. */
import type { Operation, Schemas } from './operations.ts'
import type { operations } from './schema.ts'

type ErrorBody = Extract<Schemas[keyof Schemas], { message: `errors.developer_api.${string}` }>
type KeyOf<B> = B extends { message: `errors.developer_api.${infer K}` } ? K : never
/** The translation key of an error without its prefix, e.g. `patient_not_found`. */
export type ErrorKey = KeyOf<ErrorBody>
type DetailsOf<B> = B extends { details?: infer D } ? NonNullable<D> : []
type KeysOfStatus<S extends number> = {
  [O in Operation]: operations[O]['responses'] extends Record<S, { content: { 'application/json': infer B } }>
    ? KeyOf<B>
    : never
}[Operation]

const PREFIX = 'errors.developer_api.'

class ResponseError extends Error {
  override readonly name: string = 'ApiError'
  readonly status: number
  /** The error code, e.g. `NOT_FOUND`. `UNKNOWN` if the response did not come from the API. */
  readonly code: string
  /** The translation key without its prefix, e.g. `patient_not_found`. Empty if the response did not come from the API. */
  readonly key: string
  /** Invalid fields, alternative slots or the missing scope, depending on `key`. */
  readonly details: readonly object[]
  /** The number of items that the response left out of `details`. */
  readonly detailsOmitted: number
  /** Include it when you contact support. */
  readonly requestId: string | null
  /** Seconds to wait before another attempt, if the response said so. */
  readonly retryAfter: number | null
  /** Whether this attempt, or one before it, may have changed something. */
  mayHaveTakenEffect = false

  constructor(status: number, text: string, requestId: string | null, retryAfter: number | null) {
    const { error, message, details, details_omitted } = bodyOf(text)
    const omitted = Number.isInteger(details_omitted) ? Number(details_omitted) : 0
    const key = message.startsWith(PREFIX) ? message.slice(PREFIX.length) : ''
    const list = Array.isArray(details)
      ? details.filter((one) => typeof one === 'object' && one !== null)
      : []
    super(messageOf(status, key, list, omitted, requestId))
    this.status = status
    this.code = key !== '' && typeof error === 'string' ? error : 'UNKNOWN'
    this.key = key
    this.details = list
    this.detailsOmitted = omitted
    this.requestId = requestId
    this.retryAfter = retryAfter
  }
}

function bodyOf(text: string): {
  error?: unknown
  message: string
  details?: unknown
  details_omitted?: unknown
} {
  try {
    const body = JSON.parse(text)
    if (typeof body?.message === 'string') return body
  } catch {
    // The response came from a proxy, not from the API.
  }
  return { message: '' }
}

/** For people: `first_name is missing; notes is too long (422, request 7f3...)`. */
function messageOf(
  status: number,
  key: string,
  details: object[],
  omitted: number,
  requestId: string | null,
) {
  const list = details.map(textOf).join('; ') + (omitted ? `; ${omitted} more` : '')
  const hasIssues = details.length > 0 && details.every((detail) => 'issue' in detail)
  const label = details.some((detail) => 'start_time' in detail) ? '; free instead' : ''
  const reason = hasIssues ? list : key.replaceAll('_', ' ') + (list && `${label}: ${list}`)
  return `${reason || 'unexpected response'} (${status}${requestId ? `, request ${requestId}` : ''})`
}

const textOf = (detail: object): string =>
  Object.values(detail)
    .filter((value) => typeof value !== 'object')
    .join(' ')
    .replace(/(:\d\d) (?=\d\d:)/, '$1-')

/**
 * An error response. `key` says which error it is, and the type of `details` follows from it:
 * `if (error instanceof ApiError && error.key === 'slot_unavailable') show(error.details[0]?.start_time)`.
 */
export type ApiError<K extends ErrorKey = ErrorKey> = {
  [One in K]: Error &
    Omit<ResponseError, 'key' | 'details'> & {
      readonly key: One
      readonly details: DetailsOf<Extract<ErrorBody, { message: `errors.developer_api.${One}` }>>
    }
}[K]

type ErrorClass<K extends ErrorKey> = {
  readonly prototype: ApiError<K>
  new (status: number, text: string, requestId: string | null, retryAfter: number | null): ApiError<K>
}

/** TypeScript cannot derive the type of `details` from `key` in a class. */
const kind = <K extends ErrorKey>(name: string): ErrorClass<K> =>
  class extends ResponseError {
    // Node prints it for an uncaught error.
    static override readonly name = name
    override readonly name = name
  } as unknown as ErrorClass<K>

export const ApiError = ResponseError as unknown as ErrorClass<ErrorKey>
/** A query parameter, the body or a header is invalid: 400, 405, 413, 415. */
export const BadRequestError = kind<KeysOfStatus<400 | 413 | 415>>('BadRequestError')
/** 401 */
export const AuthenticationError = kind<KeysOfStatus<401>>('AuthenticationError')
/** The credential does not have the scope in `details`: 403. */
export const PermissionDeniedError = kind<KeysOfStatus<403>>('PermissionDeniedError')
/** 404 */
export const NotFoundError = kind<KeysOfStatus<404>>('NotFoundError')
/** 409 */
export const ConflictError = kind<KeysOfStatus<409>>('ConflictError')
/** The record does not have the etag of `ifMatch`: 412. */
export const PreconditionFailedError = kind<KeysOfStatus<412>>('PreconditionFailedError')
/** A field of the body, or what it asks for, is not possible: 422. */
export const ValidationError = kind<KeysOfStatus<422>>('ValidationError')
/** 429 */
export const RateLimitError = kind<KeysOfStatus<429>>('RateLimitError')
/** 5xx */
export const ServerError = kind<KeysOfStatus<500 | 502 | 503 | 504>>('ServerError')
/** A redirect, or a response with a status of success and a body that is not from the API. */
export const UnexpectedResponseError = kind<ErrorKey>('UnexpectedResponseError')

const KINDS: Record<number, ErrorClass<ErrorKey>> = {
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  412: PreconditionFailedError,
  422: ValidationError,
  429: RateLimitError,
}

/** The error of a response, whose class follows from the status. */
export function errorOf(status: number, headers: Headers, text: string): ApiError {
  const Kind =
    KINDS[status] ?? (status >= 500 ? ServerError : status >= 400 ? BadRequestError : UnexpectedResponseError)
  return new Kind(status, status < 400 ? '' : text, headers.get('x-request-id'), retryAfterOf(headers))
}

/** The header retry-after in seconds: it has seconds, or a date, which is compared with the clock of the sender. */
function retryAfterOf(headers: Headers): number | null {
  const value = headers.get('retry-after')?.trim()
  if (!value) return null
  if (/^\d+$/.test(value)) return Number(value)
  const seconds = (Date.parse(value) - (Date.parse(headers.get('date') ?? '') || Date.now())) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, Math.ceil(seconds))
}

/** No complete response arrived. `cause` has the original error. */
export class NoResponseError extends Error {
  override readonly name: string = 'NoResponseError'
  /** Whether the request, or an attempt before it, may have changed something: its response may have been lost. */
  mayHaveTakenEffect: boolean
  constructor(message: string, cause: unknown, mayHaveTakenEffect: boolean) {
    super(message, { cause })
    this.mayHaveTakenEffect = mayHaveTakenEffect
  }
}
/** The `signal` of the call ended it. */
export class AbortError extends NoResponseError {
  override readonly name = 'AbortError'
}
/** An attempt took longer than `timeout`. */
export class RequestTimeoutError extends NoResponseError {
  override readonly name = 'RequestTimeoutError'
}
/** The connection failed, or was lost before the response was complete. */
export class ConnectionFailedError extends NoResponseError {
  override readonly name = 'ConnectionFailedError'
}
