import type { Clinic, ClinicId } from '../../domain/clinic.ts'
import { ERASED_RECIPIENT, isMessageWaiting, type Message } from '../../domain/messages/message.ts'
import type { SendResult } from '../send-result.ts'
import type { Messages } from '../store-ports.ts'
import type { Email, EmailSender } from './email.ts'
import type { EmailQueue, QueuedEmail } from './email-queue.ts'

/** How long a claim lasts: longer than the function can run. */
export const EMAIL_LEASE_MS = 90_000

/** An email that could not be sent within a day is no longer sent. */
export const MAX_AGE_MS = 24 * 60 * 60 * 1000

/** How long after a queued email is due the sweep assumes that it was lost. */
const SWEEP_MARGIN_MS = 5 * 60_000

/** No such email. Its message is always stored before it is queued. */
export class UnknownMessage extends Error {
  override readonly name = 'UnknownMessage'
}

/** The settings of a clinic that its emails depend on. */
export type MailSettings = Pick<Clinic, 'name' | 'emailFromName' | 'replyTo' | 'pausedAt' | 'replacement'>

export type EmailConsumer = {
  readonly messages: Pick<
    Messages,
    'find' | 'claim' | 'recordFeedback' | 'giveUp' | 'markUnresolved' | 'release' | 'postpone'
  >
  /** Null once the clinic was deleted. */
  readonly mailSettings: (clinic: ClinicId) => Promise<MailSettings | null>
  readonly sender: EmailSender
  readonly queue: EmailQueue
  /** Waits until the next email may begin. */
  readonly waitForTurn: () => Promise<void>
  readonly now: () => number
  /** A number from 0 to 1. */
  readonly random: () => number
  /** A unique token for each claim. */
  readonly newToken: () => string
  /** Called with the provider's result for the message. */
  readonly onSent?: (result: SendResult, message: Message) => void
}

/**
 * Sends one queued email, at most once, however often the queue delivers it. If the process crashes between the claim and
 * recording the result, the outcome is unknown and the email is not sent again automatically.
 * @throws UnknownMessage for unknown ids; UnavailableError while the store is unavailable
 */
export async function sendQueuedEmail(consumer: EmailConsumer, email: QueuedEmail): Promise<void> {
  const { messages, sender, now } = consumer
  const { clinic, message: id } = email
  const [read, settings] = await Promise.all([messages.find(clinic, id), consumer.mailSettings(clinic)])
  // Deleted, and its messages with it.
  if (!settings) return
  // It is sent from the restored table, or by a sweep once the restore is given up. Nothing may change here.
  if (settings.replacement !== undefined) return
  if (read?.record.channel !== 'email') throw new UnknownMessage('no such email')
  const { record } = read
  // The email is already claimed or sent.
  if (!isMessageWaiting(record)) return
  if (settings.pausedAt !== undefined) {
    // The sweep that queued it has moved the time at which it is due. Now the first sweep after the pause queues it again.
    if (record.dispatch && record.dispatch.dueAt > now()) await messages.postpone(clinic, read, now())
    return
  }
  const failureReason = reasonToGiveUp(record, now())
  if (failureReason) return void (await messages.giveUp(clinic, id, failureReason))

  // The turn is taken only for an email that will be sent: there can be as many messages of emails that were sent already.
  if (!record.isTest) await consumer.waitForTurn()
  const token = consumer.newToken()
  const isClaimed = await messages.claim(clinic, read, { token, until: now() + EMAIL_LEASE_MS })
  // Claimed by another consumer, or changed otherwise, such as the name of its patient: the next receive finds out.
  if (!isClaimed) return consumer.queue.push(email)
  const result = await sender.send(toEmail(email, settings, record))
  consumer.onSent?.(result, record)
  if (result.kind === 'accepted') {
    const { providerMessageId } = result
    const at = new Date(now()).toISOString()
    await messages.recordFeedback(clinic, id, { kind: 'sent', at, providerMessageId })
  } else if (result.kind === 'rejected') {
    await messages.recordFeedback(clinic, id, { kind: 'failed', reason: result.reason })
  } else if (result.kind === 'unknown') {
    await messages.markUnresolved(clinic, id, result.reason)
  } else {
    const seconds = backoffSeconds(email.waits, consumer.random())
    await messages.release(clinic, id, token, now() + seconds * 1000 + SWEEP_MARGIN_MS)
    await consumer.queue.push({ ...email, waits: email.waits + 1 }, seconds)
  }
  for (const feedback of result.feedback ?? []) await messages.recordFeedback(clinic, id, feedback)
}

const toEmail = (
  { clinic, waits }: QueuedEmail,
  { name, emailFromName, replyTo }: MailSettings,
  { id, recipient, subject, text, isTest }: Message,
): Email => ({
  clinic,
  message: id,
  fromName: emailFromName ?? name,
  replyTo: replyTo ?? null,
  recipient,
  subject: subject ?? name,
  text,
  waits,
  isTest,
})

function reasonToGiveUp({ recipient, acceptedAt }: Message, now: number): string | null {
  if (recipient === ERASED_RECIPIENT) return 'Not sent: the patient was erased'
  if (now - Date.parse(acceptedAt) > MAX_AGE_MS) return 'Not sent: the provider was unavailable for a day'
  return null
}

/** 15 s, doubling to 15 minutes, less up to a quarter by `random` (0 to 1), so that a backlog is spread out. */
export const backoffSeconds = (waits: number, random: number): number =>
  Math.round(Math.min(900, 15 * 2 ** waits) * (0.75 + random * 0.25))

/** The most that an email has waited in its queue that was queued again so often. */
export const maxWaitSeconds = (waits: number): number =>
  Array.from({ length: waits }, (_, wait) => backoffSeconds(wait, 1)).reduce(
    (sum, seconds) => sum + seconds,
    0,
  )
