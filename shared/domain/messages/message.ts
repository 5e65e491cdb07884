import { PATIENT_REFERENCE_FIELDS, type PersonReference } from '../booking/appointment.ts'
import { eraseFields, eraseTo, type FieldPolicies, KEEP, KEEP_SILENTLY } from '../field-policy.ts'

export const CHANNELS = ['sms', 'email'] as const
export type Channel = (typeof CHANNELS)[number]

export const MESSAGE_TYPES = ['manual', 'reminder', 'confirmation', 'system'] as const
export type MessageType = (typeof MESSAGE_TYPES)[number]

export const MESSAGE_STATUSES = ['queued', 'sent', 'delivered', 'failed'] as const
export type MessageStatus = (typeof MESSAGE_STATUSES)[number]

/** The provider that sends the messages of a channel. */
export const PROVIDERS = { sms: 'sns', email: 'ses' } as const satisfies Record<Channel, string>

/** One entry of the communication log. */
export type Message = {
  readonly id: string
  readonly channel: Channel
  readonly type: MessageType
  readonly recipient: string
  readonly subject: string | null
  readonly text: string
  readonly status: MessageStatus
  readonly providerMessageId: string | null
  readonly errorMessage: string | null
  /** ISO 8601 instant; null until sent. */
  readonly sentAt: string | null
  readonly patient: PersonReference
  /** When the clinic accepted it, ISO 8601 instant. Lists are sorted and filtered by this time. */
  readonly acceptedAt: string
  /** The clinic-local day of `acceptedAt`, `Y-m-d`. */
  readonly acceptedOn: string
  /** How far this service got in sending it; null once the outcome is known, and for messages that others sent. */
  readonly dispatch: Dispatch | null
  /** A message of a test clinic: its sending is simulated, and is in no metric. */
  readonly isTest?: true
}

/** A message on its way to its provider. Instants are milliseconds since the epoch. */
export type Dispatch = {
  /** When the next sweep processes it. */
  readonly dueAt: number
  /** The claim of the process that is sending it. No other process takes it over: the provider may have the message already. */
  readonly claim: Claim | null
  /** The claim expired without an outcome: a person resolves it, or the provider's feedback does. */
  readonly isUnresolved: boolean
}

export type Claim = { readonly token: string; readonly until: number }

/** Replaces the recipient of an erased patient's messages. */
export const ERASED_RECIPIENT = 'erased'

export const MESSAGE_FIELDS = {
  id: KEEP,
  channel: KEEP,
  type: KEEP,
  recipient: eraseTo(ERASED_RECIPIENT),
  subject: eraseTo(null),
  text: eraseTo(''),
  status: KEEP,
  // An import takes any text for it.
  providerMessageId: eraseTo(null),
  errorMessage: eraseTo(null),
  sentAt: KEEP,
  patient: { fields: PATIENT_REFERENCE_FIELDS },
  acceptedAt: KEEP,
  acceptedOn: KEEP,
  dispatch: {
    fields: {
      dueAt: KEEP_SILENTLY,
      claim: { fields: { token: KEEP_SILENTLY, until: KEEP_SILENTLY } },
      isUnresolved: KEEP_SILENTLY,
    },
  },
  isTest: KEEP,
} satisfies FieldPolicies<Message>

/** The outcome of a message, reported by its provider or by a person. `at` is an ISO 8601 instant. */
export type ProviderFeedback =
  | { readonly kind: 'sent'; readonly at: string; readonly providerMessageId: string | null }
  | { readonly kind: 'delivered'; readonly at: string; readonly providerMessageId: string | null }
  | { readonly kind: 'failed'; readonly reason: string }
  | {
      readonly kind: 'complaint'
      readonly at: string
      readonly providerMessageId: string | null
      readonly reason: string
    }

const TRANSITIONS: Record<MessageStatus, readonly MessageStatus[]> = {
  queued: ['sent', 'delivered', 'failed'],
  sent: ['delivered', 'failed'],
  delivered: [],
  failed: [],
}

/**
 * Returns the message after feedback. Statuses only move forward, in whatever order feedback arrives and however often:
 * `delivered` and `failed` are final, and later feedback only fills other fields.
 */
export function applyFeedback(message: Message, feedback: ProviderFeedback): Message {
  const status = feedback.kind === 'complaint' ? 'delivered' : feedback.kind
  const isTransition = TRANSITIONS[message.status].includes(status)
  // The message of an unknown outcome is obsolete once the outcome is known.
  const errorMessage = message.dispatch?.isUnresolved ? null : message.errorMessage
  const statusAfter = isTransition ? status : message.status
  // If a function is stopped before it records what a simulated provider reports, the sweep does.
  const pending = message.isTest && statusAfter === 'sent' ? message.dispatch : null
  const after: Message = {
    ...message,
    status: statusAfter,
    errorMessage,
    dispatch: pending && { ...pending, isUnresolved: false },
    ...(feedback.kind !== 'failed' && {
      sentAt: message.sentAt ?? feedback.at,
      providerMessageId: message.providerMessageId ?? feedback.providerMessageId,
    }),
    ...('reason' in feedback && { errorMessage: errorMessage ?? feedback.reason }),
  }
  // A reason may quote the recipient of a message whose patient was erased since.
  return message.recipient === ERASED_RECIPIENT ? eraseFields(after, MESSAGE_FIELDS) : after
}

/** Whether the message is queued and unclaimed. */
export const isMessageWaiting = ({ status, dispatch }: Message): boolean =>
  status === 'queued' && dispatch !== null && dispatch.claim === null

/** Why a message is unresolved, unless the provider's response was lost. */
export const SENDER_STOPPED =
  "The sending function stopped before recording the provider's response; it may have been sent."

/** Whether the claim expired without an outcome: it is unknown whether the provider has the message. */
export const isUnresolved = ({ status, dispatch }: Message, now: number): boolean =>
  status === 'queued' &&
  dispatch !== null &&
  dispatch.claim !== null &&
  (dispatch.isUnresolved || dispatch.claim.until <= now)

/** The message marked as unresolved: a person, or the provider's feedback, decides its outcome. */
export const asUnresolved = (message: Message, reason: string): Message => ({
  ...message,
  errorMessage: reason,
  dispatch: message.dispatch && { ...message.dispatch, isUnresolved: true },
})
