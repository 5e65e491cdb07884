/**
 * What each field and parameter of the document means. Apart from the contracts, because these are in the bundle of every function.
 * `npm run openapi` fails for a field without a description, and for a description without a field.
 */

import { WEBHOOK_FIELD_ALIASES } from '../api/aliases.ts'
import { appointmentDescriptions } from '../api/appointments.ts'
import { bookingDescriptions } from '../api/bookings.ts'
import { doctorDescriptions } from '../api/doctors.ts'
import { MAX_DETAILS } from '../api/errors.ts'
import { holdDescriptions } from '../api/holds.ts'
import { holidayDescriptions } from '../api/holidays.ts'
import { invoiceDescriptions } from '../api/invoices.ts'
import { newDoctorDescriptions } from '../api/new-doctor.ts'
import { newInvoiceDescriptions } from '../api/new-invoice.ts'
import { newPaymentDescriptions } from '../api/new-payment.ts'
import { patientDescriptions } from '../api/patients.ts'
import { scheduleDescriptions } from '../api/schedule.ts'
import { syncDescriptions } from '../api/sync.ts'
import { timeOffDescriptions } from '../api/time-off.ts'
import { HEALTH_DELIVERIES } from '../api/webhooks.ts'
import { MAX_AVAILABILITY_DAYS } from '../domain/booking/availability.ts'
import { MAX_TREATMENTS } from '../domain/booking/placement.ts'
import { MAX_RANGE_DAYS } from '../domain/lists/paging.ts'
import { LAST_DATE } from '../domain/timestamp.ts'
import { MAX_STORED_ATTEMPTS } from '../domain/webhooks/delivery-states.ts'
import { MAX_SECRET_BYTES, MIN_SECRET_BYTES } from '../domain/webhooks/webhook-secret.ts'

/** Schemas that have the fields of another one, and their descriptions, as far as their names do not say it (describe.ts). */
export const DERIVED: Readonly<Record<string, string>> = {
  DoctorChanges: 'DoctorCreate',
  ExpandedInvoicePatient: 'Patient',
  InvoiceChanges: 'InvoiceCreate',
  PatientChanges: 'PatientCreate',
  SecretRotation: 'WebhookCreate',
  WebhookChanges: 'WebhookCreate',
  WorkingHours: 'WeeklyWindows',
}

const END_TIME = 'End, `HH:MM`, on the same day.'
const FAILED_MESSAGE = 'Id of the message. `GET /messages/{id}` returns the reason as `error_message`.'
const OWN_SECRET =
  `A signing secret of your own: \`whsec_\` followed by the base64 of ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} bytes, or any visible ASCII ` +
  'characters without `whsec_`, which are used as they are.'

/** Fields that mean the same in every schema that does not have a description of its own. */
export const FIELDS: Readonly<Record<string, string>> = {
  appointment_date: "Date of the appointment, in the clinic's time zone.",
  clinic_id: 'Id of the clinic.',
  created_at: 'When the record was created.',
  currency: 'ISO 4217 currency code, such as `EUR`.',
  data: 'The record.',
  'data[]': 'The records of this page.',
  department_id: 'Id of the department. Null if none is set.',
  details: 'What is wrong, item by item.',
  details_omitted: `Number of items that \`details\` leaves out. Present only if there are more than ${MAX_DETAILS}.`,
  doctor: 'The doctor.',
  doctor_id: 'Id of the doctor.',
  email_address: 'Email address. Null if none is stored.',
  end_time: END_TIME,
  error: 'Code of the error. Several errors can share one.',
  external_id: 'Id in another system, by which imports find the record. It cannot be changed.',
  full_name: 'Full name.',
  has_more: 'Whether there are further records after this page.',
  id: 'Id of the record.',
  invoice_id: 'Id of the invoice.',
  invoice_number: 'Number that the clinic gave the invoice. Several invoices can have the same one.',
  is_active: 'Whether the clinic currently uses the record.',
  is_test: 'Whether the clinic is a test clinic: its messages are simulated, and none is sent.',
  limit: 'Maximum number of records per page.',
  message: 'Translation key of the error.',
  meta: 'Position of this page in the list.',
  patient: 'The patient.',
  patient_id: 'Id of the patient.',
  phone_number: 'Phone number in E.164 format, such as `+905321234567`. Null if none is stored.',
  start_time: "Start, `HH:MM`, in the clinic's time zone.",
  timezone: 'IANA time zone, such as `Europe/Istanbul`.',
  updated_at:
    'When the record was last changed, or `created_at`. A change of a name that the record copies from another record does not count; erasure does.',
  ...Object.fromEntries(
    Object.entries(WEBHOOK_FIELD_ALIASES).map(([alias, field]) => [alias, `Another name of \`${field}\`.`]),
  ),
}

/** Fields by schema; a field of an object without a name of its own by its path, such as `clinic.name`. */
export const SCHEMAS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ...appointmentDescriptions(),
  ...bookingDescriptions(),
  ...doctorDescriptions(),
  ...holdDescriptions(),
  ...holidayDescriptions(),
  ...newDoctorDescriptions(),
  ...timeOffDescriptions(),
  ...invoiceDescriptions(),
  ...newInvoiceDescriptions(),
  ...newPaymentDescriptions(),
  ...patientDescriptions(),
  ...scheduleDescriptions(),
  ...syncDescriptions(),
  AcceptedEmail: {
    channel: 'Always `email`.',
    recipient: "Email address from the patient's record.",
    status: 'Always `queued`: the email is sent after the response.',
  },
  AcceptedSms: {
    id: 'Id of the message.',
    channel: 'Always `sms`.',
    recipient: "Phone number from the patient's record, in E.164 format.",
    status:
      '`sent` if the provider accepted the SMS, `failed` if it rejected it, `queued` if its response was lost: the SMS may have been sent, and is not sent again.',
  },
  Account: {
    key: 'Key of the credential, without its secret.',
    name: 'Name that the operator gave the credential.',
    scopes: 'Scopes of the credential.',
    expires_at: 'When the credential expires. Null if it does not.',
    rate_limit: 'Maximum number of requests per minute.',
    clinic: 'Clinic that the credential gives access to.',
  },
  AccountClinic: { name: 'Name of the clinic.' },
  Alternative: { appointment_date: "Date of the free slot, in the clinic's time zone." },
  AvailabilityMeta: {
    date: 'The requested date.',
    date_to: 'The requested last date. Absent if none was requested.',
    doctor_id: 'The requested doctor. Absent if none was requested.',
    treatment_id: 'The requested treatment. Absent if none was requested.',
    treatment_ids: 'The requested treatments. Absent if none were requested.',
    room_id: 'The requested room. Absent if none was requested.',
    duration_minutes: 'Length of each slot in minutes.',
    count: 'Number of slots in `data`. 0 if nothing is free from here to the end of the range.',
    has_more:
      'Whether the range continues after this page. The rest may have no slots. Absent for one day of one doctor, without `date_to` and `limit`.',
    next_after: 'Pass it as `after` to continue the list. Null at the end; absent where `has_more` is.',
  },
  Cancellation: { reason: 'Reason for the cancellation. Returned as `cancellation_reason`.' },
  CatalogueReference: {
    name: 'The name at the time of the booking; on an invoice, at its last change.',
  },
  Clinic: {
    name: 'Name of the clinic.',
    address: 'Postal address. Null if none is stored.',
    website: 'Address of the website. Null if none is stored.',
    appointment_duration: 'Default length of an appointment in minutes.',
  },
  CursorMeta: {
    next_after: 'Pass it as `after` to continue the list. Null at the end.',
  },
  Delivery: {
    id: 'Id of the delivery.',
    event_id: 'Id of the event, the same for every endpoint and on every attempt.',
    event: 'Type of the event.',
    status:
      '`pending` while attempts are still made, `delivered` after a 2xx response, `failed` when no further attempt follows.',
    attempts: `The latest attempts, oldest first; at most ${MAX_STORED_ATTEMPTS}.`,
    next_attempt_at: 'When the next attempt is due. Null if none is scheduled.',
    created_at: 'When the delivery was created.',
  },
  DeliveryAttempt: {
    attempted_at: 'When the attempt started.',
    response_status: 'HTTP status of the response. Null if no response was received.',
    error:
      'Why no response was received, as one word, such as `timeout` or `connection_refused`. Null if one was received.',
    latency_ms: 'Duration of the attempt in milliseconds.',
  },
  Department: { name: 'Name of the department.' },
  Event: {
    id: 'Id of the event, the same on every attempt. Use it to recognize duplicates.',
    event: 'Type of the event.',
    created_at: 'When the event occurred.',
    sequence:
      'Numbers the events of one record from 1, in the order they happened. Deliveries can arrive in another order.',
    source: 'Who caused it; `system` includes message providers.',
    request_id: 'The `x-request-id` of the request that caused it.',
    data: 'The record of the event: ids, statuses, dates, times and counts only.',
    'data.appointment_id':
      'Id of the appointment that the invoice bills. Null if none is known. Absent in events from before 1.1.0.',
    'data.room_id': 'Id of the room. Null if none is known. Absent in events from before 1.1.0.',
    'data.treatment_ids':
      'Ids of the treatments. Empty if none are known. Absent in events from before 1.1.0.',
    'data.status': 'Status of the record after the event.',
    'data.start_time': "Start, `HH:MM`, in the clinic's time zone.",
    'data.issue_date': 'Date of issue.',
    'data.due_date': 'Date by which the invoice is due. Null if none is set.',
    'data.payment_date': "Date of the payment, in the clinic's time zone.",
  },
  ClinicUpdatedEvent: { 'data.changed': 'What of the clinic was changed.' },
  ImportCompletedEvent: {
    'data.entity': 'Kind of the records, such as `patients`.',
    'data.imported': 'Number of new records.',
    'data.updated': 'Number of changed records.',
  },
  EmailFailedEvent: { 'data.id': FAILED_MESSAGE },
  SmsFailedEvent: { 'data.id': FAILED_MESSAGE },
  EventListMeta: { next_after: 'Pass it as `after` to continue the list, now or later. Never null.' },
  FieldIssue: {
    field: 'Name of the parameter or field, such as `events.0` for a list item.',
    issue: 'What is wrong with it, in English. Intended for developers.',
  },
  Health: {
    status: 'Always `ok`.',
    tzdata: 'The version of the IANA time zone database by which local times are converted, such as `2026f`.',
  },
  Message: {
    channel: '`sms` or `email`.',
    type: '`manual` if it was sent through this API; `reminder`, `confirmation` and `system` are sent by the clinic.',
    recipient:
      'Phone number (in E.164 format, unless it was imported) or email address. `erased` once the patient is erased.',
    subject: 'Subject of the email. Null for SMS.',
    message: 'Text of the message. Empty once the patient is erased.',
    status:
      'Only moves forward: `queued` (accepted, and not known to have reached the provider), `sent` (handed over to the provider, which may still not deliver it), then `delivered` (the provider reported delivery) or `failed` (rejected or not delivered), which are final. A message whose delivery the provider does not report remains `sent`.',
    provider: 'Service that sends it: `sns` for SMS, `ses` for email.',
    provider_message_id: "The provider's id of the message. Null if none is known.",
    error_message:
      'Why it failed, why its outcome is unknown, or a complaint of the recipient. Null if there is nothing to report.',
    sent_at: 'When the provider accepted the message. Null until then.',
    created_at: 'When the message was accepted.',
  },
  MissingScope: { scope: 'Scope that the credential lacks.' },
  MessageCreate: {
    channel: '`sms` or `email`.',
    patient_id: 'Id of the patient who receives the message.',
    message:
      'An SMS may have at most ten segments: 1,530 characters of the GSM alphabet, or 630 UTF-16 code units if any character is outside it. Of the GSM alphabet, `^{}\\[~]|` and the euro sign count twice, and three times where they would be split over two segments of 153.',
    subject: "Email only; a single line. Defaults to the clinic's name.",
  },
  WebhookCreate: {
    url: 'An https URL with a public host name, on port 443 or 8443, without user name, password or fragment.',
    events: 'Events to deliver. `payment.received` is a deprecated alias of `payment.created`.',
    description: 'Description, one line.',
    secret: `${OWN_SECRET} Generated if omitted.`,
    is_active: 'Whether events are delivered. Defaults to true.',
  },
  NotDueIssue: {
    field: 'Always `appointment_date`.',
    issue: 'What is wrong with it, in English. Intended for developers.',
    from: 'When the action becomes possible.',
  },
  OutsideHours: {
    field: 'Always `start_time`.',
    reason:
      'Why the time cannot be booked: outside working `hours` (minutes that a daylight saving change skips included), in a `break`, during `time_off`, on a `holiday`, or because the doctor is inactive (`doctor_inactive`).',
  },
  PageMeta: {
    page: 'Number of this page, starting at 1.',
    total: 'Exact number of records on all pages.',
    total_pages: 'Number of pages. 0 when `total` is 0.',
  },
  Payment: {
    amount: "Amount with the currency's decimals. Positive for payments and for refunds.",
    type: '`payment` to the clinic, or `refund` to the patient.',
    payment_method: 'How it was paid.',
    status:
      '`pending` (not completed yet), `completed`, `failed` (not received, or voided) or `refunded` (of imported payments only: the money was returned without a refund). Only `completed` payments and refunds count in the `paid_amount` of the invoice.',
    description: 'Description. Null if there is none.',
    payment_date: "Date of the payment, in the clinic's time zone.",
    voided_at:
      'When it was voided, because it was recorded by mistake. Its status is then `failed`. Null if it was not.',
  },
  PaymentDetails: { void_reason: 'Why it was voided. Null if it was not, or no reason was given.' },
  PriceList: {
    name: 'Name of the price list.',
    is_default: 'At most one price list of a clinic is its default.',
    valid_from: 'First day on which the prices apply. Null if there is none.',
    valid_to: 'Last day on which the prices apply. Null if there is none.',
    items: 'Prices of treatments.',
  },
  PriceListItem: {
    treatment_id: 'Id of the treatment.',
    price: "Price in units of the price list's currency.",
  },
  RecordListMeta: {
    page: 'Number of this page, starting at 1. Absent with `after` and `updated_since`.',
    total: 'Exact number of records on all pages. Absent with `after` and `updated_since`.',
    total_pages: 'Number of pages. 0 when `total` is 0. Absent with `after` and `updated_since`.',
    next_after: 'Pass it as `after`, without `page`, to continue the list. Null at the end.',
    has_more: 'Whether there are further records. Present only with `after` and `updated_since`.',
    as_of:
      'The list contains all changes before this time. Pass it as the next `updated_since` when `next_after` is null. Present only with `updated_since`.',
  },
  Room: { name: 'Name of the room.' },
  Slot: {
    date: 'Date of the slot. Present only with `date_to`.',
    doctor: 'The doctor who is free. Absent with `doctor_id`.',
    duration_minutes: 'Length of the slot in minutes.',
  },
  TakenExternalId: {
    field: 'Always `external_id`.',
    id: 'Id of the record that has this external id.',
  },
  TakenInvoiceNumber: {
    field: 'Always `invoice_number`.',
    id: 'Id of the invoice that has this number.',
  },
  Treatment: {
    name: 'Name of the treatment.',
    code: "The clinic's own code of the treatment. Null if it has none.",
    description: 'Description. Null if there is none.',
    duration_minutes: 'Time that the treatment takes, in minutes.',
    price: 'Price in units of the currency. A price list may have another price.',
    doctor_ids: 'Ids of the doctors who offer the treatment.',
  },
  UnknownId: { field: 'Name of a field with an unknown id, such as `treatment_ids.0` for a list item.' },
  Webhook: {
    url: 'Address that events are sent to.',
    events: 'Events that are delivered to the endpoint.',
    description: 'Description. Null if there is none.',
    is_active:
      'No events are delivered while this is false. It becomes false when the endpoint returns 410, or after five days of failed attempts only.',
    updated_at: 'When the endpoint was last changed.',
  },
  WebhookChanges: {
    description: 'Description, one line. Null removes it.',
    secret: OWN_SECRET,
    is_active: 'Whether events are delivered.',
  },
  WebhookDetails: {
    health: `How the endpoint responds, from its newest ${HEALTH_DELIVERIES} deliveries. The \`etag\` does not change with it.`,
  },
  WebhookHealth: {
    is_slow: 'Whether the last attempt took a second or longer. Its deliveries then delay no other endpoint.',
    failing_since: 'When the first attempt since the last success failed. Null if none has.',
    next_attempt_at: 'When the next attempt is due. Null if none is scheduled.',
    last_success: 'The last attempt that a 2xx response accepted. Null if there is none.',
    last_failure: 'The last attempt that failed. Null if there is none.',
  },
  WebhookWithSecret: {
    secret:
      'Signs deliveries. Returned only when the endpoint is created or its secret is rotated, and when that request is repeated with the same `Idempotency-Key`. Null in a repetition after the endpoint was deleted or its secret was replaced.',
  },
}

const needsRange = (from: string, to: string, selector = '`patient_id`'): string =>
  `Needs \`${from}\` and \`${to}\`, at most ${MAX_RANGE_DAYS} days, or ${selector}.`

const OF_INVOICES = '`patient_id` or `invoice_number`'

/** Query parameters that mean the same for every operation that does not have a description of its own. */
export const PARAMETERS: Readonly<Record<string, string>> = {
  after:
    'The `next_after` of a response to a request for the same list with the same filters. The list continues from there; records that were added or removed since then do not shift it.',
  channel: 'Only messages of this channel.',
  date_from: "Only appointments on this date or later, in the clinic's time zone.",
  date_to: "Only appointments on this date or earlier, in the clinic's time zone.",
  doctor_id: 'Only records of this doctor.',
  expand:
    '`patient` adds all fields that `GET /patients` returns to the `patient` of each record. Also requires the scope `patient.read`. The response then has no `etag`.',
  external_id:
    'Only the record with this id in another system. Sent alone, or with `limit` or, for appointments, `expand`.',
  invoice_id: 'Only payments of this invoice.',
  is_active: 'Only active, or only inactive records.',
  limit: 'Maximum number of records per page.',
  order: 'Newest first (`desc`), or oldest first (`asc`).',
  page: 'Page number, starting at 1. A page past the last one is empty and has the same `meta` totals.',
  patient_id: 'Only records of this patient.',
  status: 'Only records with this status. Several are separated by commas.',
  updated_since:
    'Lists all records that were changed at this time or later, however they were changed, by `updated_at`, oldest first. An ISO 8601 timestamp with any UTC offset. Only together with `limit` and `after`. The list ends at `meta.as_of`, 20 seconds ago; pass that as the next `updated_since`. A page may have fewer records than `limit`.',
}

const RECORD_LIST = { page: `${PARAMETERS.page} Not together with \`after\`.` }
const FROM_PAYMENT_DATE = 'Only payments with this payment date or a later one.'
const TO_PAYMENT_DATE = 'Only payments with this payment date or an earlier one.'
const PREVIOUS_AFTER =
  'The `next_after` of the previous response. Omit it to start at the beginning of the list.'

/** Query parameters by operation. */
export const OPERATIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'get-availability': {
    doctor_id: 'The doctor. Required unless `treatment_id` or `treatment_ids` is sent.',
    treatment_id: 'Lists only slots of doctors who offer this treatment. Not together with `treatment_ids`.',
    treatment_ids: `Up to ${MAX_TREATMENTS} treatments of one appointment, separated by commas. Not together with \`treatment_id\`.`,
    room_id: 'Lists only slots at which this room is free too.',
    date: `The date, in the clinic's time zone. Must not be after ${LAST_DATE}.`,
    date_to: `The last date, at most ${MAX_AVAILABILITY_DAYS - 1} days after \`date\`. Slots then have a \`date\`.`,
    duration:
      "Length of a slot in minutes. Defaults to the duration of the treatments together, or to the clinic's setting.",
    limit: 'Maximum number of slots per page.',
    after: 'The `next_after` of a response to the same query, with any `limit`.',
  },
  'get-schedule': {
    date: `The first date, in the clinic's time zone. Must not be after ${LAST_DATE}.`,
    date_to: `The last date, at most ${MAX_AVAILABILITY_DAYS - 1} days after \`date\`, which it defaults to.`,
  },
  'list-appointments': {
    ...RECORD_LIST,
    room_id: `Only appointments in this room. ${needsRange('date_from', 'date_to')}`,
    outside_hours: `\`true\` lists only scheduled appointments during which the doctor does not work. ${needsRange('date_from', 'date_to')}`,
  },
  'list-deliveries': { after: PREVIOUS_AFTER },
  'list-events': {
    after: PREVIOUS_AFTER,
    event: 'Only events of this type. `payment.received` is a deprecated alias of `payment.created`.',
  },
  'list-invoice-payments': { from: FROM_PAYMENT_DATE, to: TO_PAYMENT_DATE },
  'list-invoices': {
    ...RECORD_LIST,
    invoice_number: 'Only invoices with exactly this number. Several invoices can have it.',
    appointment_id: `Only invoices of this appointment. ${needsRange('from', 'to', OF_INVOICES)}`,
    doctor_id: `Only invoices of this doctor, whoever its line items have. ${needsRange('from', 'to', OF_INVOICES)}`,
    from: 'Only invoices issued on this date or later.',
    to: 'Only invoices issued on this date or earlier.',
  },
  'list-messages': {
    ...RECORD_LIST,
    status: `Only messages with this status. Several are separated by commas. ${needsRange('from', 'to')}`,
    from: "Only messages accepted on this date or later, in the clinic's time zone.",
    to: "Only messages accepted on this date or earlier, in the clinic's time zone.",
  },
  'list-patients': {
    ...RECORD_LIST,
    search: 'Words, or a number, that the name, phone number or email address contains.',
    national_id:
      'Only patients with exactly this national id. Also requires the scope `patient.read.private`.',
  },
  'list-time-off': {
    from: 'Only time off that ends on this date or later.',
    to: 'Only time off that begins on this date or earlier.',
  },
  'list-payments': { ...RECORD_LIST, from: FROM_PAYMENT_DATE, to: TO_PAYMENT_DATE },
  'list-treatments': { doctor_id: 'Only treatments that this doctor offers.' },
}
