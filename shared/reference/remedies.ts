import { type ErrorKey, RECORD_NOT_FOUND_KEYS, type RecordNotFoundKey } from '../api/error-catalogue.ts'

const UNKNOWN_ID = 'Check the id. Records of other clinics are not found either.'
const FIX_FIELDS = 'Correct what `details` names. Do not repeat the request unchanged.'
const WAIT = 'Repeat the request after `retry-after` seconds, with the same idempotency key.'
const OTHER_SLOT = 'Offer one of the times in `details`, or ask for free slots again.'
const INFORM = 'Show it to the user: only the clinic can change it.'

const UNKNOWN_IDS = Object.fromEntries(RECORD_NOT_FOUND_KEYS.map((key) => [key, UNKNOWN_ID])) as Record<
  RecordNotFoundKey,
  string
>

/** What a program does about each error, in Markdown. */
export const REMEDIES: Readonly<Record<ErrorKey, string>> = {
  ...UNKNOWN_IDS,
  invalid_params: FIX_FIELDS,
  invalid_cursor:
    'Start the list again without `after`. If `details` names `updated_since`, start the copy again.',
  range_required: 'Send both dates of a shorter range, or `patient_id`.',
  malformed_json: 'Send valid JSON.',
  conflicting_idempotency_keys: 'Prefer `idempotency-key`.',
  unauthorized: 'Check the credential. Do not repeat the request unchanged.',
  missing_scope: "Ask the clinic's operator for the scope.",
  request_blocked: 'Check what you send. Contact support if it is right.',
  route_not_found: 'Check the base URL and the path.',
  delivery_not_found: 'Check the id. Deliveries are deleted after their retention period.',
  hold_not_found: 'The hold has ended, or another credential made it. Hold the time again.',
  slot_unavailable: OTHER_SLOT,
  room_unavailable: OTHER_SLOT,
  hold_expired: 'Repeat the request without `hold_id`, with the doctor, date and time.',
  appointment_closed: 'Retrieve the appointment to see its status.',
  invoice_closed: 'Retrieve the invoice to see its status.',
  invoice_not_draft: 'Cancel the invoice and create another one, if the clinic agrees.',
  invoice_has_payments: 'Refund or void the payments of the invoice first.',
  invoice_number_taken: 'Send another number, or none to get the next one.',
  payment_refunded: 'List the payments of the invoice to find its refunds.',
  amount_exceeds_balance: FIX_FIELDS,
  amount_exceeds_paid: FIX_FIELDS,
  external_id_taken: 'Use the record that `details` names, or another external id.',
  price_list_is_default: 'Update another price list with `is_default: true`, then delete this one.',
  idempotency_in_progress: WAIT,
  too_many_rotations: 'Use the same idempotency key.',
  precondition_failed: 'Retrieve the record, apply the change to it, and send its new `etag`.',
  validation: FIX_FIELDS,
  invalid_idempotency_key: 'Send a key such as a UUID.',
  too_many_webhooks: 'List the endpoints to find one that is no longer used.',
  idempotency_key_reused: 'Use a new key for each new request.',
  patient_inactive: 'Activate the patient (`POST /patients/{id}/activate`), if the clinic agrees.',
  patient_declined_messages:
    'Do not send the message. Use the other channel, if the patient accepts it (`accepts_sms`, `accepts_email`).',
  patient_has_no_phone: 'Send an email, or ask for the number.',
  patient_has_no_email: 'Send an SMS, or ask for the address.',
  country_not_allowed: INFORM,
  number_not_allowed: 'Send an email, or ask for another number.',
  outside_working_hours: 'Ask for free slots.',
  appointment_not_due: 'Repeat the request at the time in `details`.',
  appointment_in_past: 'Choose a later time.',
  method_not_allowed: 'Use a method that the `allow` header lists.',
  payload_too_large: 'Send less.',
  unsupported_media_type: 'Send `content-type: application/json`, uncompressed.',
  rate_limited: WAIT,
  daily_message_limit:
    'Send the message after `retry-after` seconds, or ask the operator for a higher limit.',
  recipient_message_limit: 'Send the message after `retry-after` seconds.',
  too_many_holds: 'Delete the holds of visitors who have left.',
  internal: 'Repeat the request with the same idempotency key. Contact support if the error persists.',
  provider_unavailable: WAIT,
  unavailable: WAIT,
  clinic_paused: WAIT,
  timeout: 'Repeat the request with the same idempotency key.',
}
