import * as z from 'zod'
import { CHANNELS, MESSAGE_STATUSES, type Message } from '../domain/messages/message.ts'
import { smsLength } from '../domain/messages/sms-text.ts'
import { multiLineText, singleLineText } from '../domain/patients/text-fields.ts'
import { defineRoute } from './route.ts'
import { envelopeOf, oneOf, PersonRef, renderPersonRef, Uuid, whenValid } from './schemas.ts'

export const messageSubject = z
  .string({ error: 'must be text' })
  .refine((text) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text), {
    error: 'must be one line, without control characters',
  })
  .pipe(singleLineText(200))
  .meta({ minLength: 1, maxLength: 200 })

export const messageText = multiLineText(10_000)
  .refine((text) => text.trim() !== '', { error: 'must not be empty' })
  .meta({ minLength: 1 })

function fitsSms(message: string): boolean {
  const { length, max } = smsLength(message)
  return length <= max
}

function smsLengthIssue(message: string): string {
  const { alphabet, length, max } = smsLength(message)
  return `must fit in ten SMS segments: has ${length} characters in ${alphabet}, the maximum is ${max}`
}

/** The body of POST /messages. */
const MessageCreate = z
  .strictObject({
    channel: oneOf(CHANNELS),
    patient_id: Uuid,
    // Decomposed, as macOS has it, an accented letter is outside the GSM alphabet.
    message: messageText.overwrite((text) => text.normalize('NFC')),
    subject: messageSubject.nullish(),
  })
  .refine(({ channel, message }) => channel !== 'sms' || fitsSms(message), {
    path: ['message'],
    error: ({ input }) => smsLengthIssue((input as { message: string }).message),
    when: whenValid('channel', 'message'),
  })
  .refine(({ channel, subject }) => channel !== 'sms' || subject == null, {
    path: ['subject'],
    error: 'is only allowed for email',
    when: whenValid('channel', 'subject'),
  })
  .meta({
    id: 'MessageCreate',
    // JSON Schema of the check of `subject`.
    not: {
      properties: { channel: { type: 'string', const: 'sms' }, subject: { type: 'string' } },
      required: ['channel', 'subject'],
    },
  })

/** The response to an accepted message. An email is returned without its id. */
const AcceptedMessage = z.union([
  z.lazy(() =>
    z
      .strictObject({
        id: Uuid,
        channel: z.literal('sms'),
        status: oneOf(MESSAGE_STATUSES),
        recipient: z.string(),
      })
      .meta({ id: 'AcceptedSms' }),
  ),
  z.lazy(() =>
    z
      .strictObject({
        channel: z.literal('email'),
        recipient: z.string(),
        status: z.literal('queued'),
        patient: PersonRef,
      })
      .meta({ id: 'AcceptedEmail' }),
  ),
])

export const renderAcceptedMessage = ({ id, channel, status, recipient, patient }: Message) => ({
  data:
    channel === 'sms'
      ? { id, channel, status, recipient }
      : { channel, recipient, status: 'queued' as const, patient: renderPersonRef(patient) },
})

export const sendMessage = defineRoute({
  id: 'send-message',
  method: 'POST',
  path: '/messages',
  summary: 'Send a message',
  description:
    "Sends an SMS or an email to the phone number or email address in the patient's record. An SMS is handed to the provider " +
    'before the response is sent, and `status` reports the outcome. An email is `queued`; the message that ' +
    '`location` names, and events, report what happens to it. Send an `Idempotency-Key`, because a message cannot be recalled.',
  scope: {
    field: 'channel',
    byValue: { sms: 'communication.write.sms', email: 'communication.write.email' },
  },
  body: MessageCreate,
  response: { status: 202, body: envelopeOf(AcceptedMessage), location: '/messages' },
  errors: [
    'patient_not_found',
    'patient_inactive',
    'patient_declined_messages',
    'patient_has_no_phone',
    'patient_has_no_email',
    'country_not_allowed',
    'number_not_allowed',
    'daily_message_limit',
    'recipient_message_limit',
    // Sent only while an SMS is being handed to the provider. Other concurrent repetitions wait for the response.
    'idempotency_in_progress',
    'provider_unavailable',
  ],
  uses: { services: ['sms', 'email-queue'] },
})
