/** Decides whether a message to a patient is accepted for sending. */

import { fullName, type Patient } from '../patients/patient.ts'
import { countryOf, isCostly } from '../patients/phone-number.ts'
import type { Channel, Dispatch, Message } from './message.ts'

/** How long the sender of an SMS holds its claim: longer than the function can run. */
export const SMS_CLAIM_MS = 20_000

/** When the sweep queues an email again that is still waiting. */
const EMAIL_DUE_MS = 2 * 60_000

/** How many messages a clinic may send in a day, and where. */
export type SendingLimits = {
  readonly smsPerDay: number
  readonly emailsPerDay: number
  /** The limit for one number or address, of each channel. */
  readonly messagesPerRecipient: number
  /** ISO 3166 codes. */
  readonly smsCountries: readonly string[]
}

/** A request for a message, the same at every attempt to accept it. */
export type MessageRequest = {
  /** The new message's id. */
  readonly id: string
  /** Identifies the sender of an SMS as the holder of its claim. */
  readonly claimToken: string
  readonly channel: Channel
  readonly patient: string
  /** The subject of an email; null for the clinic's name. */
  readonly subject: string | null
  readonly clinicName: string
  readonly text: string
  /** The time of the request, in milliseconds since the epoch. */
  readonly now: number
  /** The clinic-local day of the request, `Y-m-d`. */
  readonly date: string
  /** The limits of a clinic that has none set. */
  readonly defaultLimits: SendingLimits
}

/** The stored facts about the patient and the clinic. */
export type MessageFacts = {
  readonly patient: Patient | null
  /** The clinic's own limits; null for an unknown clinic. */
  readonly limits: Partial<SendingLimits> | null
  readonly isTest?: true | undefined
  /** Messages of the channel that the clinic has sent on the day of the request. */
  readonly sentToday: number
  /** The messages among these to the same recipient. */
  readonly sentToRecipient: number
}

export type AcceptedMessage = {
  readonly kind: 'accepted'
  readonly message: Message
  /** The most messages of the channel that the clinic may send in a day. */
  readonly dailyLimit: number
  /** The most messages of the channel that its recipient may get in a day. */
  readonly recipientLimit: number
}

export type MessageVerdict =
  | AcceptedMessage
  | { readonly kind: 'patient_not_found' }
  | { readonly kind: 'patient_inactive' }
  | { readonly kind: 'declined' }
  | { readonly kind: 'no_phone' }
  | { readonly kind: 'no_email' }
  | { readonly kind: 'country_not_allowed' }
  | { readonly kind: 'number_not_allowed' }
  | { readonly kind: 'daily_limit_reached' }
  | { readonly kind: 'recipient_limit_reached' }

/** Where a message to the patient goes; null if the patient has no such number or address. */
export const recipientOf = (
  { phoneNumber, emailAddress }: Pick<Patient, 'phoneNumber' | 'emailAddress'>,
  channel: Channel,
): string | null => (channel === 'sms' ? phoneNumber : emailAddress)

/** Decides on a message. An erased patient counts as not found. */
export function acceptMessage(request: MessageRequest, facts: MessageFacts): MessageVerdict {
  const { channel } = request
  const { patient, sentToday, sentToRecipient } = facts
  const limits = { ...request.defaultLimits, ...facts.limits }
  if (!patient || patient.erasedAt) return { kind: 'patient_not_found' }
  if (!patient.isActive) return { kind: 'patient_inactive' }
  if (!(channel === 'sms' ? patient.acceptsSms : patient.acceptsEmail)) return { kind: 'declined' }
  const recipient = recipientOf(patient, channel)
  if (!recipient) return { kind: channel === 'sms' ? 'no_phone' : 'no_email' }
  if (channel === 'sms' && !limits.smsCountries.includes(countryOf(recipient) ?? ''))
    return { kind: 'country_not_allowed' }
  if (channel === 'sms' && isCostly(recipient)) return { kind: 'number_not_allowed' }
  const dailyLimit = channel === 'sms' ? limits.smsPerDay : limits.emailsPerDay
  if (sentToday >= dailyLimit) return { kind: 'daily_limit_reached' }
  const recipientLimit = limits.messagesPerRecipient
  if (sentToRecipient >= recipientLimit) return { kind: 'recipient_limit_reached' }
  const message: Message = {
    id: request.id,
    channel,
    type: 'manual',
    recipient,
    subject: channel === 'sms' ? null : (request.subject ?? request.clinicName),
    text: request.text,
    status: 'queued',
    providerMessageId: null,
    errorMessage: null,
    sentAt: null,
    patient: { id: patient.id, fullName: fullName(patient) },
    acceptedAt: new Date(request.now).toISOString(),
    acceptedOn: request.date,
    dispatch: firstDispatch(request),
    ...(facts.isTest && { isTest: true }),
  }
  return { kind: 'accepted', message, dailyLimit, recipientLimit }
}

/** An SMS is claimed by the function that accepts it, which sends it immediately. An email waits for its queue. */
function firstDispatch({ channel, now, claimToken }: MessageRequest): Dispatch {
  if (channel === 'email') return { dueAt: now + EMAIL_DUE_MS, claim: null, isUnresolved: false }
  const until = now + SMS_CLAIM_MS
  return { dueAt: until, claim: { token: claimToken, until }, isUnresolved: false }
}
