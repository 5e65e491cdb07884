import * as z from 'zod'
import type { ClinicFacts } from '../domain/clinic.ts'
import {
  CHANNELS,
  MESSAGE_STATUSES,
  MESSAGE_TYPES,
  type Message as MessageRecord,
  PROVIDERS,
} from '../domain/message.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import { defineRoute } from './route.ts'
import {
  ascending,
  CalendarDate,
  NamedRef,
  oneOf,
  pageOf,
  paging,
  renderNamed,
  Timestamp,
  Uuid,
} from './schemas.ts'

/** Spec section 2, Message: one entry of the communication log. */
export const Message = z
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
    patient: NamedRef,
  })
  .meta({ id: 'Message' })

export const renderMessage = (message: MessageRecord, clinic: ClinicFacts): z.input<typeof Message> => ({
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
  patient: renderNamed(message.patient),
})

export const listMessages = defineRoute({
  id: 'list-messages',
  method: 'GET',
  path: '/messages',
  summary: 'List the communication log, newest first',
  scope: 'communication.read.sms',
  query: z
    .strictObject({
      ...paging,
      patient_id: Uuid.optional(),
      channel: oneOf(CHANNELS).optional(),
      from: CalendarDate.optional(),
      to: CalendarDate.optional(),
    })
    .superRefine(ascending('from', 'to')),
  response: { status: 200, body: pageOf(Message) },
  errors: [],
  uses: { table: ['Query', 'BatchGetItem'] },
})
