/**
 * Recipients with a fixed outcome, like the test cards of payment providers, for test clinics and the local stack. Labels
 * (`bounce+anything@...`) are ignored. docs/guides/messages.md lists what becomes of their messages.
 */

import type { ProviderFeedback } from '../domain/messages/message.ts'

/** An error response of SNS or SES. */
export type Rejection = { readonly status: number; readonly code: string; readonly message: string }

export type SmsScenario = {
  readonly rejection?: Rejection
  readonly replyLost?: boolean
  /** The status that the delivery receipt reports. */
  readonly receipt: 'SUCCESS' | 'FAILURE'
  /** What the receipt says besides; the carrier's usual text if not set. */
  readonly response?: string
}

/** What the carrier says in a delivery receipt. */
export const CARRIER_RESPONSES: Readonly<Record<SmsScenario['receipt'], string>> = {
  SUCCESS: 'Message has been accepted by phone carrier',
  FAILURE: 'Unknown error attempting to reach phone',
}

export type EmailEventType = 'Send' | 'Delivery' | 'Bounce' | 'Complaint'

export type EmailScenario = {
  readonly rejection?: Rejection
  /** How often the same email is rejected before it is accepted; always if undefined. */
  readonly rejectionCount?: number
  readonly replyLost?: boolean
  readonly eventTypes: readonly EmailEventType[]
  readonly bounceSubType?: 'General' | 'OnAccountSuppressionList'
}

const ACCEPTED_SMS: SmsScenario = { receipt: 'SUCCESS' }

const SMS_SCENARIOS: Record<string, SmsScenario> = {
  '+12015550101': {
    ...ACCEPTED_SMS,
    rejection: {
      status: 400,
      code: 'InvalidParameter',
      message: 'Invalid parameter: PhoneNumber Reason: +12015550101 is not valid to publish to',
    },
  },
  '+12015550102': {
    ...ACCEPTED_SMS,
    rejection: { status: 429, code: 'Throttled', message: 'Rate exceeded' },
  },
  '+12015550103': { ...ACCEPTED_SMS, replyLost: true },
  '+12015550104': { receipt: 'FAILURE' },
}

const DELIVERED: EmailScenario = { eventTypes: ['Send', 'Delivery'] }

const EMAIL_SCENARIOS: Record<string, EmailScenario> = {
  'success@simulator.amazonses.com': DELIVERED,
  'bounce@simulator.amazonses.com': { eventTypes: ['Send', 'Bounce'], bounceSubType: 'General' },
  'complaint@simulator.amazonses.com': { eventTypes: ['Send', 'Delivery', 'Complaint'] },
  'suppressionlist@simulator.amazonses.com': {
    eventTypes: ['Send', 'Bounce'],
    bounceSubType: 'OnAccountSuppressionList',
  },
  'rejected@test.example': {
    ...DELIVERED,
    rejection: {
      status: 400,
      code: 'BadRequestException',
      message: 'Illegal address',
    },
  },
  'throttled@test.example': {
    ...DELIVERED,
    rejection: { status: 429, code: 'TooManyRequestsException', message: 'Maximum sending rate exceeded.' },
    rejectionCount: 2,
  },
  'lost-reply@test.example': { ...DELIVERED, replyLost: true },
  'unavailable@test.example': {
    ...DELIVERED,
    rejection: { status: 503, code: 'ServiceUnavailable', message: 'Service is unavailable.' },
  },
}

export const smsScenario = (number: string): SmsScenario => SMS_SCENARIOS[number] ?? ACCEPTED_SMS

/** The scenario of the first recipient that has one. */
export const emailScenario = (recipients: readonly string[]): EmailScenario =>
  recipients.map((recipient) => EMAIL_SCENARIOS[plainAddress(recipient)]).find((scenario) => scenario) ??
  DELIVERED

/** What a simulated delivery receipt says of an SMS. */
export const smsFeedback = (number: string, at: string, providerMessageId: string): ProviderFeedback =>
  smsScenario(number).receipt === 'SUCCESS'
    ? { kind: 'delivered', at, providerMessageId }
    : { kind: 'failed', reason: `Not delivered: ${CARRIER_RESPONSES.FAILURE}` }

/** `Anna <Bounce+7@simulator.amazonses.com>` becomes `bounce@simulator.amazonses.com`. */
const plainAddress = (mailbox: string): string =>
  (/<([^>]*)>\s*$/.exec(mailbox)?.[1] ?? mailbox)
    .trim()
    .toLowerCase()
    .replace(/\+[^@]*@/, '@')
