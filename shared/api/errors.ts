/**
 * The error catalogue (spec section 7): every answer other than success, by its translation key. The error
 * documents, the gateway's own responses and the English texts all derive from this table.
 */
const CATALOGUE = {
  invalid_params: {
    status: 400,
    error: 'INVALID_PARAMS',
    text: 'A query parameter is missing or wrong; details name it.',
  },
  malformed_json: { status: 400, error: 'INVALID_PARAMS', text: 'The body is not JSON.' },
  unauthorized: { status: 401, error: 'UNAUTHORIZED', text: 'The credential is missing or not valid.' },
  missing_scope: {
    status: 403,
    error: 'FORBIDDEN',
    text: 'The credential lacks the scope that details name.',
  },
  route_not_found: { status: 404, error: 'NOT_FOUND', text: 'There is no such path.' },
  patient_not_found: { status: 404, error: 'NOT_FOUND', text: 'The clinic has no such patient.' },
  invoice_not_found: { status: 404, error: 'NOT_FOUND', text: 'The clinic has no such invoice.' },
  doctor_not_found: { status: 404, error: 'NOT_FOUND', text: 'The clinic has no such doctor.' },
  webhook_not_found: { status: 404, error: 'NOT_FOUND', text: 'The clinic has no such webhook endpoint.' },
  delivery_not_found: { status: 404, error: 'NOT_FOUND', text: 'The endpoint has no such delivery.' },
  slot_unavailable: {
    status: 409,
    error: 'SLOT_UNAVAILABLE',
    text: 'The time is taken; details offer the next free slots.',
  },
  idempotency_in_progress: {
    status: 409,
    error: 'IDEMPOTENCY_IN_PROGRESS',
    text: 'A request with this idempotency key is still running.',
  },
  validation: {
    status: 422,
    error: 'VALIDATION',
    text: 'A field of the body is missing or wrong; details name it.',
  },
  invalid_idempotency_key: {
    status: 422,
    error: 'VALIDATION',
    text: 'The idempotency key must have 1 to 255 visible ASCII characters.',
  },
  too_many_webhooks: {
    status: 422,
    error: 'VALIDATION',
    text: 'The clinic has as many webhook endpoints as it may; delete one first.',
  },
  idempotency_key_reused: {
    status: 422,
    error: 'IDEMPOTENCY_KEY_REUSED',
    text: 'The idempotency key was used with another body.',
  },
  patient_has_no_phone: {
    status: 422,
    error: 'PATIENT_UNREACHABLE',
    text: 'The patient has no phone number to send to.',
  },
  patient_has_no_email: {
    status: 422,
    error: 'PATIENT_UNREACHABLE',
    text: 'The patient has no email address to send to.',
  },
  country_not_allowed: {
    status: 422,
    error: 'VALIDATION',
    text: 'The clinic does not send SMS to the country of this phone number.',
  },
  outside_working_hours: {
    status: 422,
    error: 'OUTSIDE_WORKING_HOURS',
    text: 'The doctor does not work then, or the clock skips that time.',
  },
  appointment_in_past: {
    status: 422,
    error: 'OUTSIDE_WORKING_HOURS',
    text: "The start is not in the future of the clinic's clock.",
  },
  method_not_allowed: {
    status: 405,
    error: 'METHOD_NOT_ALLOWED',
    text: 'The path exists, but not with this method; see the allow header.',
  },
  payload_too_large: { status: 413, error: 'PAYLOAD_TOO_LARGE', text: 'The body is larger than 256 KiB.' },
  unsupported_media_type: {
    status: 415,
    error: 'UNSUPPORTED_MEDIA_TYPE',
    text: 'The body must be application/json.',
  },
  rate_limited: {
    status: 429,
    error: 'RATE_LIMITED',
    text: 'Too many requests; wait for the seconds in retry-after.',
  },
  daily_message_limit: {
    status: 429,
    error: 'RATE_LIMITED',
    text: 'The clinic has sent as many messages as it may in a day; it may again after retry-after seconds.',
  },
  internal: {
    status: 500,
    error: 'INTERNAL',
    text: 'Something went wrong on our side; quote the x-request-id.',
  },
  provider_unavailable: {
    status: 502,
    error: 'PROVIDER_UNAVAILABLE',
    text: 'The SMS could not be handed over, and was not sent; try again later.',
  },
  unavailable: {
    status: 503,
    error: 'UNAVAILABLE',
    text: 'The service is busy or down for a moment; try again after retry-after seconds.',
  },
  timeout: { status: 504, error: 'TIMEOUT', text: 'The request took too long.' },
} as const satisfies Record<string, CatalogueEntry>

type CatalogueEntry = { status: number; error: string; text: string }

export type ErrorKey = keyof typeof CATALOGUE

export const ERROR_KEYS = Object.keys(CATALOGUE) as ErrorKey[]

export const errorEntry = (key: ErrorKey): CatalogueEntry => CATALOGUE[key]

/** One field that is wrong, and how. */
export type FieldIssue = { readonly field: string; readonly issue: string }

/** The JSON body of an error (spec section 7); `message` is a translation key. */
export type ErrorBody = { error: string; message: string; details?: readonly object[] }

export function errorBody(key: ErrorKey, details?: readonly object[]): ErrorBody {
  const body = { error: errorEntry(key).error, message: `errors.developer_api.${key}` }
  return details ? { ...body, details } : body
}

/** Thrown anywhere below an endpoint to respond with an entry of the catalogue. The log gets the origin of `cause`. */
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
