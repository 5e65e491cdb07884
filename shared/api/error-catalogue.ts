import { keysOf } from '../domain/keys-of.ts'

const notFound = (record: string) => ({
  status: 404,
  error: 'NOT_FOUND',
  text: `The ${record} does not exist.`,
})

export const MAX_IDEMPOTENCY_KEY = 255

/**
 * The error catalogue: every error response, by its translation key. The API document, the error documents, the
 * gateway's own responses and the English texts all derive from this table.
 */
const CATALOGUE = {
  invalid_params: {
    status: 400,
    error: 'INVALID_PARAMS',
    text: 'A query parameter is missing or invalid, or the header `if-match` is invalid. `details` names each one.',
  },
  invalid_cursor: {
    status: 400,
    error: 'INVALID_PARAMS',
    text: "The cursor `after` does not belong to this list and its filters, or a restore of the clinic's records has ended it, or undone the changes after `updated_since`.",
  },
  range_required: {
    status: 400,
    error: 'INVALID_PARAMS',
    text: 'Filters in `details` need a range of dates, or a smaller one.',
  },
  malformed_json: { status: 400, error: 'INVALID_PARAMS', text: 'The request body is not valid JSON.' },
  conflicting_idempotency_keys: {
    status: 400,
    error: 'INVALID_PARAMS',
    text: 'The headers `idempotency-key` and `x-idempotency-key` have different values. Send one of them.',
  },
  unauthorized: { status: 401, error: 'UNAUTHORIZED', text: 'The credential is missing or invalid.' },
  missing_scope: {
    status: 403,
    error: 'FORBIDDEN',
    text: 'The credential does not have the scope named in `details`.',
  },
  request_blocked: {
    status: 403,
    error: 'FORBIDDEN',
    text: 'The firewall blocked the request: it looks like an attack, or too many requests come from its address.',
  },
  route_not_found: { status: 404, error: 'NOT_FOUND', text: 'The path does not exist.' },
  patient_not_found: notFound('patient'),
  invoice_not_found: notFound('invoice'),
  doctor_not_found: notFound('doctor'),
  appointment_not_found: notFound('appointment'),
  hold_not_found: notFound('hold'),
  department_not_found: notFound('department'),
  room_not_found: notFound('room'),
  payment_not_found: notFound('payment'),
  message_not_found: notFound('message'),
  treatment_not_found: notFound('treatment'),
  price_list_not_found: notFound('price list'),
  webhook_not_found: notFound('webhook endpoint'),
  delivery_not_found: notFound('delivery'),
  time_off_not_found: notFound('time off'),
  holiday_not_found: notFound('holiday'),
  slot_unavailable: {
    status: 409,
    error: 'SLOT_UNAVAILABLE',
    text: 'The requested time is booked or held. `details` lists up to three of the next free slots.',
  },
  room_unavailable: {
    status: 409,
    error: 'SLOT_UNAVAILABLE',
    text: 'The room is booked or held at the requested time. `details` lists up to three of the next free slots.',
  },
  hold_expired: {
    status: 409,
    error: 'HOLD_EXPIRED',
    text: 'The hold has expired. Its time can still be booked without `hold_id`, unless somebody else was faster.',
  },
  appointment_closed: {
    status: 409,
    error: 'APPOINTMENT_CLOSED',
    text: 'The appointment was completed or cancelled, or the patient did not come. It can no longer be changed. A completed or missed one can be reopened.',
  },
  invoice_closed: {
    status: 409,
    error: 'INVOICE_CLOSED',
    text: 'The invoice is a draft or cancelled, or its patient was erased.',
  },
  invoice_not_draft: {
    status: 409,
    error: 'INVOICE_CLOSED',
    text: 'The invoice is no longer a draft. `details` names the fields that can be changed in drafts only.',
  },
  invoice_has_payments: {
    status: 409,
    error: 'INVOICE_HAS_PAYMENTS',
    text: 'The invoice has payments, which rule out this change.',
  },
  invoice_number_taken: {
    status: 409,
    error: 'CONFLICT',
    text: 'Another invoice has this number. `details` names the field, and the id of that invoice.',
  },
  payment_refunded: {
    status: 409,
    error: 'PAYMENT_REFUNDED',
    text: 'Without the payment, more would be refunded than was paid. Void the refunds first.',
  },
  amount_exceeds_balance: {
    status: 422,
    error: 'VALIDATION',
    text: 'The amount is above the balance of the invoice. `details` has the largest possible amount.',
  },
  amount_exceeds_paid: {
    status: 422,
    error: 'VALIDATION',
    text: 'The refund is above what was paid, less pending refunds. `details` has the largest possible amount.',
  },
  external_id_taken: {
    status: 409,
    error: 'CONFLICT',
    text: 'Another record of the same kind has this external id, or this is its id. `details` names the field, and the id of that record.',
  },
  price_list_is_default: {
    status: 409,
    error: 'PRICE_LIST_IS_DEFAULT',
    text: 'The price list is the default of the clinic. Make another one the default first.',
  },
  idempotency_in_progress: {
    status: 409,
    error: 'IDEMPOTENCY_IN_PROGRESS',
    text: 'Another request with this idempotency key is still in progress.',
  },
  too_many_rotations: {
    status: 409,
    error: 'TOO_MANY_ROTATIONS',
    text: 'Three replaced secrets of the webhook endpoint still sign deliveries. Retry after the number of seconds in the `retry-after` header.',
  },
  precondition_failed: {
    status: 412,
    error: 'PRECONDITION_FAILED',
    text: 'The record has changed: its `etag` is not in `if-match`. Nothing was changed.',
  },
  validation: {
    status: 422,
    error: 'VALIDATION',
    text: 'A field of the request body is missing or invalid. `details` names each one.',
  },
  invalid_idempotency_key: {
    status: 422,
    error: 'VALIDATION',
    text: `The idempotency key must be 1 to ${MAX_IDEMPOTENCY_KEY} visible ASCII characters.`,
  },
  too_many_webhooks: {
    status: 422,
    error: 'VALIDATION',
    text: 'The clinic has reached its limit of webhook endpoints. Delete one first.',
  },
  idempotency_key_reused: {
    status: 422,
    error: 'IDEMPOTENCY_KEY_REUSED',
    text: 'The idempotency key was already used with a different request.',
  },
  patient_inactive: {
    status: 422,
    error: 'PATIENT_INACTIVE',
    text: 'The patient is inactive: appointments and messages are not possible.',
  },
  patient_declined_messages: {
    status: 422,
    error: 'PATIENT_DECLINED_MESSAGES',
    text: 'The patient declined messages by this channel.',
  },
  patient_has_no_phone: {
    status: 422,
    error: 'PATIENT_UNREACHABLE',
    text: 'The patient has no phone number.',
  },
  patient_has_no_email: {
    status: 422,
    error: 'PATIENT_UNREACHABLE',
    text: 'The patient has no email address.',
  },
  country_not_allowed: {
    status: 422,
    error: 'VALIDATION',
    text: "The clinic does not send SMS to the country of the patient's phone number.",
  },
  number_not_allowed: {
    status: 422,
    error: 'VALIDATION',
    text: 'SMS are not sent to numbers of this kind: premium rate, shared cost, personal, company, pager and voicemail numbers.',
  },
  outside_working_hours: {
    status: 422,
    error: 'OUTSIDE_WORKING_HOURS',
    text: "The time is outside the doctor's working hours, or is skipped by a daylight saving change. `details` has the reason.",
  },
  appointment_not_due: {
    status: 422,
    error: 'VALIDATION',
    text: 'It is too early for this action. `details` has the time from which it is possible.',
  },
  appointment_in_past: {
    status: 422,
    error: 'OUTSIDE_WORKING_HOURS',
    text: "The start time is not in the future, in the clinic's time zone.",
  },
  method_not_allowed: {
    status: 405,
    error: 'METHOD_NOT_ALLOWED',
    text: 'The path does not support this method. The `allow` header lists the methods it supports.',
  },
  payload_too_large: {
    status: 413,
    error: 'PAYLOAD_TOO_LARGE',
    text: 'The request body or the query string is too long.',
  },
  unsupported_media_type: {
    status: 415,
    error: 'UNSUPPORTED_MEDIA_TYPE',
    text: 'The request body must be application/json in UTF-8, without a content encoding.',
  },
  rate_limited: {
    status: 429,
    error: 'RATE_LIMITED',
    text: 'Too many requests. Retry after the number of seconds in the `retry-after` header.',
  },
  daily_message_limit: {
    status: 429,
    error: 'RATE_LIMITED',
    text: 'The clinic has reached its daily message limit. Retry after the number of seconds in the `retry-after` header.',
  },
  recipient_message_limit: {
    status: 429,
    error: 'RATE_LIMITED',
    text: 'The clinic has reached its daily limit of messages to this recipient. Retry after the number of seconds in the `retry-after` header.',
  },
  too_many_holds: {
    status: 429,
    error: 'TOO_MANY_HOLDS',
    text: 'The credential has 200 holds. The first of them expires after the number of seconds in the `retry-after` header.',
  },
  internal: {
    status: 500,
    error: 'INTERNAL',
    text: 'An unexpected error occurred. Include the `x-request-id` header when you contact support.',
  },
  provider_unavailable: {
    status: 502,
    error: 'PROVIDER_UNAVAILABLE',
    text: 'The SMS provider was unavailable, and the SMS was not sent. Retry after the number of seconds in the `retry-after` header.',
  },
  unavailable: {
    status: 503,
    error: 'UNAVAILABLE',
    text: 'The service is temporarily unavailable. Retry after the number of seconds in the `retry-after` header.',
  },
  clinic_paused: {
    status: 503,
    error: 'UNAVAILABLE',
    text: 'The operator has paused the clinic: its records can be read, but not changed. Retry after the number of seconds in the `retry-after` header.',
  },
  timeout: { status: 504, error: 'TIMEOUT', text: 'The request timed out.' },
} as const satisfies Record<string, CatalogueEntry>

type CatalogueEntry = { status: number; error: string; text: string }

export type ErrorKey = keyof typeof CATALOGUE

/** The error for an unknown or malformed id of a kind of record. */
export type RecordNotFoundKey = Exclude<Extract<ErrorKey, `${string}_not_found`>, 'route_not_found'>

export const ERROR_KEYS = keysOf(CATALOGUE)

export const RECORD_NOT_FOUND_KEYS = ERROR_KEYS.filter(
  (key): key is RecordNotFoundKey => key.endsWith('_not_found') && key !== 'route_not_found',
)

export const errorEntry = (key: ErrorKey): CatalogueEntry => CATALOGUE[key]
