import type { ClinicId } from '../../domain/clinic.ts'
import type { Message, ProviderFeedback } from '../../domain/messages/message.ts'
import type { SendResult } from '../send-result.ts'
import type { SmsSender } from './sms.ts'

type ExtendChanges<Changes> = (changes: Changes) => Promise<void>

export type SmsHandOver<Changes> = {
  /** The communication log. `extend` adds to the transaction that records an outcome. */
  readonly messages: {
    readonly recordFeedback: (
      clinic: ClinicId,
      id: string,
      feedback: ProviderFeedback,
      extend?: ExtendChanges<Changes>,
    ) => Promise<unknown>
    readonly markUnresolved: (
      clinic: ClinicId,
      id: string,
      reason: string,
      extend: ExtendChanges<Changes>,
    ) => Promise<unknown>
  }
  readonly sender: SmsSender
  /** Ends the call of the provider. */
  readonly deadline: AbortSignal
  readonly now: () => number
  readonly count: (metric: string, dimension: Readonly<Record<string, string>>, cause: unknown) => void
}

/**
 * Sends an accepted SMS once and records the provider's result. Returns the message with its new status, or null when it
 * was certainly not sent. `extend` adds to the transaction that records the result. When that transaction fails, this is
 * only counted: the provider's result is final, and another attempt could send the SMS twice.
 */
export async function handOverSms<Changes>(
  { messages, sender, deadline, now, count }: SmsHandOver<Changes>,
  clinic: ClinicId,
  message: Message,
  extend: (changes: Changes, sent: Message | null) => Promise<void>,
): Promise<Message | null> {
  const { id } = message
  const result = await sender.send(message, deadline)
  const sent = result.kind === 'unavailable' ? null : { ...message, status: STATUSES[result.kind] }
  const extendChanges = (changes: Changes) => extend(changes, sent)
  const recorded =
    result.kind === 'unknown'
      ? messages.markUnresolved(clinic, id, result.reason, extendChanges)
      : messages.recordFeedback(clinic, id, toFeedback(result, now()), extendChanges)
  const recordRest = async () => {
    for (const feedback of result.feedback ?? []) await messages.recordFeedback(clinic, id, feedback)
  }
  await recorded.then(recordRest).catch((error) => message.isTest || count('sms_not_noted', {}, error))
  return sent
}

/** After a lost reply the message stays queued, until a person or the provider's feedback resolves it. */
const STATUSES = { accepted: 'sent', rejected: 'failed', unknown: 'queued' } as const

const toFeedback = (result: Exclude<SendResult, { kind: 'unknown' }>, at: number): ProviderFeedback =>
  result.kind === 'accepted'
    ? { kind: 'sent', at: new Date(at).toISOString(), providerMessageId: result.providerMessageId }
    : { kind: 'failed', reason: result.reason }
