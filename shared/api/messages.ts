import * as z from 'zod'
import type { ClinicInfo } from '../domain/clinic.ts'
import {
  CHANNELS,
  MESSAGE_STATUSES,
  MESSAGE_TYPES,
  type Message as MessageRecord,
  PROVIDERS,
} from '../domain/messages/message.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import { order, recordListOf, recordListQuery } from './record-lists.ts'
import { defineRoute } from './route.ts'
import {
  CalendarDate,
  envelopeOf,
  oneOf,
  PersonRef,
  renderPersonRef,
  requiredRange,
  someOf,
  Timestamp,
  Uuid,
  validDateRange,
} from './schemas.ts'

/** An entry of the communication log as the API returns it. */
export const Message = z.lazy(() =>
  z
    .strictObject({
      id: Uuid,
      channel: oneOf(CHANNELS),
      type: oneOf(MESSAGE_TYPES),
      recipient: z.string(),
      subject: z.string().nullable(),
      message: z.string(),
      status: oneOf(MESSAGE_STATUSES),
      provider: z.enum(PROVIDERS),
      provider_message_id: z.string().nullable(),
      error_message: z.string().nullable(),
      sent_at: Timestamp.nullable(),
      patient: PersonRef,
      created_at: Timestamp,
      updated_at: Timestamp,
    })
    .meta({ id: 'Message' }),
)

export const renderMessage = (
  message: WithUpdatedAt<MessageRecord>,
  clinic: ClinicInfo,
): z.input<typeof Message> => ({
  id: message.id,
  channel: message.channel,
  type: message.type,
  recipient: message.recipient,
  subject: message.subject,
  message: message.text,
  status: message.status,
  provider: PROVIDERS[message.channel],
  provider_message_id: message.providerMessageId,
  error_message: message.errorMessage,
  sent_at: message.sentAt && clinicTimestamp(message.sentAt, clinic.timezone),
  patient: renderPersonRef(message.patient),
  created_at: clinicTimestamp(message.acceptedAt, clinic.timezone),
  updated_at: clinicTimestamp(message.updatedAt, clinic.timezone),
})

export const listMessages = defineRoute({
  id: 'list-messages',
  method: 'GET',
  path: '/messages',
  summary: 'List messages',
  description:
    'Lists the communication log, newest first by default. The order and the `from` and `to` filters use `created_at`, the time at which ' +
    'each message was accepted; `sent_at` is later. `from` and `to` are inclusive dates in the ' +
    "clinic's time zone. Filters can be combined. Filtering by an unknown id returns an empty list.",
  scope: 'communication.read.sms',
  query: recordListQuery({
    patient_id: Uuid.optional(),
    channel: oneOf(CHANNELS).optional(),
    status: someOf(MESSAGE_STATUSES).optional(),
    from: CalendarDate.optional(),
    to: CalendarDate.optional(),
    order: order(),
  })
    .refine(...validDateRange('from', 'to'))
    .refine(...requiredRange('status', 'from', 'to')),
  response: { status: 200, body: recordListOf(Message) },
  errors: ['invalid_cursor', 'range_required'],
})

/** The filter of the list, from the parameters of a query. */
export const messageFilter = (query: z.output<typeof listMessages.query>) => ({
  patient: query.patient_id,
  facets: query.channel && [query.channel],
  statuses: query.status,
  from: query.from,
  to: query.to,
  order: query.order,
})

export const getMessage = defineRoute({
  id: 'get-message',
  method: 'GET',
  path: '/messages/{id}',
  summary: 'Retrieve a message',
  scope: 'communication.read.sms',
  params: { id: 'message_not_found' },
  response: { status: 200, body: envelopeOf(Message), record: {} },
  errors: ['message_not_found'],
})
