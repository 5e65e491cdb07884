/** Parses delivery feedback from providers. */
import * as z from 'zod'
import type { ClinicId } from '../../domain/clinic.ts'
import type { ProviderFeedback } from '../../domain/messages/message.ts'
import { emailScenario } from '../test-recipients.ts'

/** An SES event as the rules of infra/messaging/messaging.ts forward it: ids and types only, no address and no subject. */
// Endpoints load this file too, for the events of test recipients, so workers make its schemas when they parse.
const EmailFeedback = z.lazy(() =>
  z.object({
    event: z.enum(['Send', 'Delivery', 'Bounce', 'Complaint', 'Reject']),
    // SES sends tag values as lists.
    clinic: z.tuple([z.uuid()]),
    message: z.tuple([z.uuid()]),
    provider_message_id: z.string().min(1),
    at: z.iso.datetime({ offset: true }),
    /** Types of a bounce or complaint; empty strings for those that do not apply. */
    detail: z.array(z.string()),
  }),
)

/**
 * Parses an SES event.
 * @throws SyntaxError or ZodError if it is malformed
 */
export function readEmailFeedback(body: string): {
  clinic: ClinicId
  message: string
  feedback: ProviderFeedback
} {
  const { clinic, message, event, provider_message_id, at, detail } = EmailFeedback.parse(JSON.parse(body))
  const feedback = toEmailFeedback(event, { at, providerMessageId: provider_message_id, detail })
  return { clinic: clinic[0] as ClinicId, message: message[0], feedback }
}

/** The feedback of an event of SES. `detail` has the types of a bounce or complaint. */
function toEmailFeedback(
  event: z.output<typeof EmailFeedback>['event'],
  {
    at,
    providerMessageId,
    detail,
  }: { readonly at: string; readonly providerMessageId: string; readonly detail: readonly string[] },
): ProviderFeedback {
  const detailText = detail.filter((part) => part !== '').join(', ')
  const reason = (summary: string) => (detailText === '' ? summary : `${summary}: ${detailText}`)
  const feedbackByEvent: Record<typeof event, ProviderFeedback> = {
    Send: { kind: 'sent', at, providerMessageId },
    Delivery: { kind: 'delivered', at, providerMessageId },
    Bounce: { kind: 'failed', reason: reason('Bounce') },
    Complaint: { kind: 'complaint', at, providerMessageId, reason: reason('Complaint') },
    Reject: { kind: 'failed', reason: 'The provider rejected it' },
  }
  return feedbackByEvent[event]
}

/** The feedback of the events of an email to a test recipient, in order. */
export function simulatedEvents(
  recipient: string,
  at: string,
  providerMessageId: string,
): ProviderFeedback[] {
  const { eventTypes, bounceSubType } = emailScenario([recipient])
  return eventTypes.map((type) => {
    const detail = type === 'Bounce' && bounceSubType ? ['Permanent', bounceSubType] : []
    return toEmailFeedback(type, { at, providerMessageId, detail })
  })
}

/** Six or more digits without a letter between them, in any script. */
const NUMBERS = /\+?\p{Nd}(?:[^\p{L}]*\p{Nd}){5,}/gu

/** The fields used of the record that SNS logs for an SMS. The phone number in it is not read. */
const SmsReceipt = z.lazy(() =>
  z.object({
    notification: z.object({
      messageId: z.string().min(1),
      timestamp: z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$/),
    }),
    delivery: z.object({ providerResponse: z.string().optional() }),
    status: z.enum(['SUCCESS', 'FAILURE']),
  }),
)

/** Parses a delivery receipt. Returns null for any other log line. */
export function readSmsReceipt(
  text: string,
): { providerMessageId: string; feedback: ProviderFeedback } | null {
  const receipt = SmsReceipt.safeParse(parseJson(text)).data
  if (!receipt) return null
  const { notification, delivery, status } = receipt
  const { messageId: providerMessageId, timestamp } = notification
  if (status === 'FAILURE') {
    // A carrier's response is free text: anything that could be a phone number is removed.
    const carrierResponse = [...(delivery.providerResponse ?? 'no response').replace(NUMBERS, '...')]
      .slice(0, 200)
      .join('')
    return { providerMessageId, feedback: { kind: 'failed', reason: `Not delivered: ${carrierResponse}` } }
  }
  const at = new Date(`${timestamp.replace(' ', 'T')}Z`).toISOString()
  return { providerMessageId, feedback: { kind: 'delivered', at, providerMessageId } }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
