import { randomUUID } from 'node:crypto'
import type { ClinicId } from '../domain/clinic.ts'
import { ERASED_RECIPIENT, isWaiting, type Message } from '../domain/message.ts'
import type { EmailSender } from './email.ts'
import type { EmailQueue, QueuedEmail } from './email-queue.ts'

/** How long a consumer may be believed to be at a message: longer than its function can run. */
const LEASE_MS = 60_000

/** An email that could not be handed over for a day is worth nothing to its reader any more. */
export const MAX_AGE_MS = 24 * 60 * 60 * 1000

/** The sweep looks after a message that was put back only well after the queue should have. */
const SWEEP_MARGIN_MS = 5 * 60_000

/** There is no such message: its log entry is always written before it is queued. */
export class UnknownMessage extends Error {}

/** What the consumer needs of the communication log. */
export type EmailMessages = {
  readonly find: (clinic: ClinicId, id: string) => Promise<StoredMessage | null>
  readonly claim: (
    clinic: ClinicId,
    read: StoredMessage,
    claim: { token: string; until: number },
  ) => Promise<boolean>
  readonly recordFeedback: (clinic: ClinicId, id: string, occurrence: SendFeedback) => Promise<unknown>
  readonly markUnresolved: (clinic: ClinicId, id: string, reason: string) => Promise<unknown>
  readonly release: (clinic: ClinicId, id: string, token: string, dueAt: number) => Promise<unknown>
}
type StoredMessage = { readonly record: Message; readonly version: number; readonly events: number }
type SendFeedback =
  | { readonly kind: 'sent'; readonly at: string; readonly providerMessageId: string }
  | { readonly kind: 'failed'; readonly reason: string }

export type EmailConsumer = {
  readonly messages: EmailMessages
  readonly clinicName: (clinic: ClinicId) => Promise<string>
  readonly sender: EmailSender
  readonly queue: EmailQueue
  readonly now: () => number
}

/**
 * Sends one queued email, once, however often the queue delivers it. Between the claim and the note of what SES said lies
 * the one window in which a crash leaves nobody knowing: such a message is never sent again by itself.
 * @throws UnknownMessage for ids of nothing; UnavailableError while the log cannot be reached
 */
export async function sendQueuedEmail(consumer: EmailConsumer, email: QueuedEmail): Promise<void> {
  const { messages: log, sender, now } = consumer
  const { clinic, message: id } = email
  const [read, clinicName] = await Promise.all([log.find(clinic, id), consumer.clinicName(clinic)])
  if (read?.record.channel !== 'email') throw new UnknownMessage('no such email')
  const { record } = read
  // Sent, being sent, or another delivery of the same: somebody else has seen to it.
  if (!isWaiting(record)) return
  const failureReason = reasonToGiveUp(record, now())
  if (failureReason)
    return void (await log.recordFeedback(clinic, id, { kind: 'failed', reason: failureReason }))

  const token = randomUUID()
  if (!(await log.claim(clinic, read, { token, until: now() + LEASE_MS }))) return
  const { recipient, subject, text } = record
  const result = await sender.send({
    clinic,
    message: id,
    clinicName,
    recipient,
    subject: subject ?? clinicName,
    text,
  })
  if (result.kind === 'accepted') {
    const { providerMessageId } = result
    const at = new Date(now()).toISOString()
    await log.recordFeedback(clinic, id, { kind: 'sent', at, providerMessageId })
  } else if (result.kind === 'refused') {
    await log.recordFeedback(clinic, id, { kind: 'failed', reason: result.reason })
  } else if (result.kind === 'unknown') {
    await log.markUnresolved(clinic, id, result.reason)
  } else {
    const seconds = backoffSeconds(email.waits)
    await log.release(clinic, id, token, now() + seconds * 1000 + SWEEP_MARGIN_MS)
    await consumer.queue.push({ ...email, waits: email.waits + 1 }, seconds)
  }
}

function reasonToGiveUp({ recipient, acceptedAt }: Message, now: number): string | null {
  if (recipient === ERASED_RECIPIENT) return 'Not sent: the patient was erased'
  if (now - Date.parse(acceptedAt) > MAX_AGE_MS) return 'Not sent: the provider took nothing for a day'
  return null
}

/** 15 s, doubling to 15 minutes, with jitter so that a backlog does not come back at once. */
export const backoffSeconds = (waits: number): number =>
  Math.round(Math.min(900, 15 * 2 ** waits) * (0.75 + Math.random() * 0.25))
