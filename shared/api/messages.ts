import * as z from 'zod'
import type { ClinicFacts } from '../domain/clinic.ts'
import {
  CHANNELS,
  MESSAGE_STATUSES,
  MESSAGE_TYPES,
  type Message as MessageRecord,
  PROVIDERS,
} from '../domain/message.ts'
import { smsLength } from '../domain/sms-text.ts'
import { line, paragraphs } from '../domain/text-fields.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import { defineRoute } from './route.ts'
import {
  ascending,
  CalendarDate,
  NamedRef,
  one,
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

const Subject = z
  .string({ error: 'must be text' })
  .refine((text) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text), {
    error: 'must be one line, without control characters',
  })
  .pipe(line(200))

/** Spec section 4, POST /messages. */
const NewMessage = z
  .strictObject({
    channel: oneOf(CHANNELS),
    patient_id: Uuid,
    message: paragraphs(10_000).refine((text) => text.trim() !== '', { error: 'must not be empty' }),
    subject: Subject.nullish(),
  })
  .superRefine(({ channel, message, subject }, context) => {
    if (channel !== 'sms') return
    const refuse = (field: string, issue: string) =>
      context.addIssue({ code: 'custom', path: [field], message: issue })
    const { alphabet, length, most } = smsLength(message)
    if (length > most)
      refuse(
        'message',
        `must fit into ten SMS: it has ${length} of at most ${most} characters in ${alphabet}`,
      )
    if (subject != null) refuse('subject', 'is for emails only')
  })

/** What is answered to an accepted message (spec section 4): an email's is shown without its id. */
const AcceptedMessage = z.union([
  z.strictObject({
    id: Uuid,
    channel: z.literal('sms'),
    status: oneOf(MESSAGE_STATUSES),
    recipient: z.string(),
  }),
  z.strictObject({
    channel: z.literal('email'),
    recipient: z.string(),
    status: z.literal('queued'),
    patient: NamedRef,
  }),
])

export const renderAccepted = ({ id, channel, status, recipient, patient }: MessageRecord) => ({
  data:
    channel === 'sms'
      ? { id, channel, status, recipient }
      : { channel, recipient, status: 'queued' as const, patient: renderNamed(patient) },
})

export const sendMessage = defineRoute({
  id: 'send-message',
  method: 'POST',
  path: '/messages',
  summary: 'Send an SMS or an email to a patient',
  scope: {
    field: 'channel',
    of: { sms: 'communication.write.sms', email: 'communication.write.email' },
  },
  body: NewMessage,
  response: { status: 202, body: one(AcceptedMessage) },
  errors: [
    'patient_not_found',
    'patient_has_no_phone',
    'patient_has_no_email',
    'country_not_allowed',
    'daily_message_limit',
    'provider_unavailable',
  ],
  uses: {
    table: ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
    services: ['sms', 'email-queue'],
  },
})
