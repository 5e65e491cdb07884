import * as z from 'zod'
import type { ClinicInfo } from '../domain/clinic.ts'
import {
  CHANNELS,
  MESSAGE_STATUSES,
  MESSAGE_TYPES,
  type Message as MessageRecord,
  PROVIDERS,
} from '../domain/message.ts'
import { smsLength } from '../domain/sms-text.ts'
import { singleLineText } from '../domain/text-fields.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import { defineRoute } from './route.ts'
import {
  CalendarDate,
  envelopeOf,
  longText,
  oneOf,
  PersonRef,
  pageOf,
  paging,
  renderPersonRef,
  Timestamp,
  Uuid,
  validDateRange,
} from './schemas.ts'

/** Spec section 2, Message: one entry of the communication log. */
export const Message = z
  .strictObject({
    id: Uuid,
    channel: oneOf(CHANNELS),
    type: oneOf(MESSAGE_TYPES),
    recipient: z.string().meta({ description: 'A phone number, or an email address.' }),
    subject: z.string().nullable().meta({ description: "Of emails; an SMS's is null." }),
    message: z.string(),
    status: oneOf(MESSAGE_STATUSES).meta({
      description: 'Moves forward only; `delivered` and `failed` are final.',
    }),
    provider: z.enum(PROVIDERS),
    provider_message_id: z.string().nullable(),
    error_message: z.string().nullable(),
    sent_at: Timestamp.nullable().meta({ description: 'Null until sent.' }),
    patient: PersonRef,
  })
  .meta({ id: 'Message' })

export const renderMessage = (message: MessageRecord, clinic: ClinicInfo): z.input<typeof Message> => ({
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
})

export const listMessages = defineRoute({
  id: 'list-messages',
  method: 'GET',
  path: '/messages',
  summary: 'List the communication log, newest first',
  description:
    'By the time that the clinic accepted each message. Filters combine; `from` and `to` are clinic-local dates, both ' +
    'included. An id of nobody gives an empty list.',
  scope: 'communication.read.sms',
  query: z
    .strictObject({
      ...paging,
      patient_id: Uuid.optional(),
      channel: oneOf(CHANNELS).optional(),
      from: CalendarDate.optional(),
      to: CalendarDate.optional(),
    })
    .superRefine(validDateRange('from', 'to')),
  response: { status: 200, body: pageOf(Message) },
  errors: [],
  uses: { table: ['Query', 'BatchGetItem'] },
})

const Subject = z
  .string({ error: 'must be text' })
  .refine((text) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text), {
    error: 'must be one line, without control characters',
  })
  .pipe(singleLineText(200))
  .meta({ minLength: 1, maxLength: 200 })

/** Spec section 4, POST /messages. */
const NewMessage = z
  .strictObject({
    channel: oneOf(CHANNELS),
    patient_id: Uuid,
    message: longText(10_000)
      .refine((text) => text.trim() !== '', { error: 'must not be empty' })
      .meta({
        minLength: 1,
        description:
          'An SMS has at most ten segments: 1,530 characters of the GSM alphabet (`^{}\\[~]|` and the euro sign count ' +
          'twice), or 630 UTF-16 units as soon as one character is outside it.',
      }),
    subject: Subject.nullish().meta({
      description: "For emails only, one line; the clinic's name without it.",
    }),
  })
  .superRefine(({ channel, message, subject }, context) => {
    if (channel !== 'sms') return
    const addIssue = (field: string, issue: string) =>
      context.addIssue({ code: 'custom', path: [field], message: issue })
    const { alphabet, length, max: most } = smsLength(message)
    if (length > most)
      addIssue(
        'message',
        `must fit into ten SMS: it has ${length} of at most ${most} characters in ${alphabet}`,
      )
    if (subject != null) addIssue('subject', 'is for emails only')
  })
  .meta({ id: 'NewMessage' })

/** What is answered to an accepted message (spec section 4): an email's is shown without its id. */
const AcceptedMessage = z.union([
  z
    .strictObject({
      id: Uuid,
      channel: z.literal('sms'),
      status: oneOf(MESSAGE_STATUSES),
      recipient: z.string(),
    })
    .meta({ id: 'AcceptedSms' }),
  z
    .strictObject({
      channel: z.literal('email'),
      recipient: z.string(),
      status: z.literal('queued'),
      patient: PersonRef,
    })
    .meta({ id: 'AcceptedEmail' }),
])

export const renderAcceptedMessage = ({ id, channel, status, recipient, patient }: MessageRecord) => ({
  data:
    channel === 'sms'
      ? { id, channel, status, recipient }
      : { channel, recipient, status: 'queued' as const, patient: renderPersonRef(patient) },
})

export const sendMessage = defineRoute({
  id: 'send-message',
  method: 'POST',
  path: '/messages',
  summary: 'Send an SMS or an email to a patient',
  description:
    "The recipient is the patient's phone number or email address, as the clinic has it. An SMS has been handed over, or not, " +
    'by the time of the answer, and `status` says which; an email is `queued`, and the log shows what becomes of it. Send an ' +
    '`Idempotency-Key`: a message is the one thing that cannot be taken back.',
  scope: {
    field: 'channel',
    byValue: { sms: 'communication.write.sms', email: 'communication.write.email' },
  },
  body: NewMessage,
  response: { status: 202, body: envelopeOf(AcceptedMessage) },
  errors: [
    'patient_not_found',
    'patient_has_no_phone',
    'patient_has_no_email',
    'country_not_allowed',
    'daily_message_limit',
    // Of an SMS that is being handed over; other repetitions wait for the answer.
    'idempotency_in_progress',
    'provider_unavailable',
  ],
  uses: {
    table: ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
    services: ['sms', 'email-queue'],
  },
})
