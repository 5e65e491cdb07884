/** Opens senders and queues of messages with the environment of the function. */
import { setTimeout as sleep } from 'node:timers/promises'
import { SESv2Client } from '@aws-sdk/client-sesv2'
import { SNSClient } from '@aws-sdk/client-sns'
import { type EmailSender, emailSender, simulatedEmail } from '../delivery/email/email.ts'
import { emailQueue } from '../delivery/email/email-queue.ts'
import { type SmsSender, simulatedSms, smsSender } from '../delivery/sms/sms.ts'
import { abortOption } from '../store/table/request-scope.ts'
import { readEmailEnvironment, readEmailQueueEnvironment, readSendingEnvironment } from './environment.ts'
import { queueClient } from './queue-client.ts'
import { newId, now } from './system.ts'
import { sendEmailWorker } from './workers.ts'

/** How long after its request began an SMS may be with SNS: time is left to record the result before the function ends. */
export const SMS_DEADLINE_MS = 7000

/** The longest call of SES. */
export const SES_CALL_MS = 8000

/** The longest that sending an email waits for the table before the call of SES, in each of two steps, and after it. */
export const EMAIL_STEP_MS = 10_000

/** One attempt: a retry could send a message twice. */
const sendOnce = (requestTimeout: number) => ({
  maxAttempts: 1,
  requestHandler: {
    connectionTimeout: 1000,
    requestTimeout,
    socketTimeout: requestTimeout,
    throwOnRequestTimeout: true,
    // While a function is frozen, its idle connections are reset. The next message on one would have an unknown outcome.
    httpAgent: { keepAlive: false },
    httpsAgent: { keepAlive: false },
  },
})

/** The daily limits and SMS countries of clinics that have no limits of their own. */
export function sendingLimits() {
  const environment = readSendingEnvironment()
  return {
    smsPerDay: environment.SMS_PER_DAY,
    emailsPerDay: environment.EMAILS_PER_DAY,
    messagesPerRecipient: environment.MESSAGES_PER_RECIPIENT,
    smsCountries: environment.SMS_COUNTRIES,
  }
}

/** Sends SMS through SNS, and simulates those of test clinics. */
export function openSms(): SmsSender {
  const { SMS_SENDER_ID, SMS_MAX_PRICE } = readSendingEnvironment()
  const settings = { senderId: SMS_SENDER_ID, maxPrice: SMS_MAX_PRICE }
  const sns = smsSender(new SNSClient(sendOnce(SMS_DEADLINE_MS)), settings)
  const simulated = simulatedSms(now, newId)
  return { send: (sms, deadline) => (sms.isTest ? simulated : sns).send(sms, deadline) }
}

/** Aborts when an SMS must no longer be sent: when its request has taken too long, or has got a 504. */
export function smsDeadline(startedAt: number): AbortSignal {
  const remaining = startedAt + SMS_DEADLINE_MS - now()
  if (remaining <= 0) return AbortSignal.abort()
  return abortOption(AbortSignal.timeout(remaining)).abortSignal as AbortSignal
}

export const openEmailQueue = () => emailQueue(queueClient(), readEmailQueueEnvironment().EMAIL_QUEUE_URL)

/** Sends emails through SES, and simulates those of test clinics. */
export function openEmail(): EmailSender {
  const { EMAIL_FROM, EMAIL_CONFIGURATION_SET } = readEmailEnvironment()
  const settings = { from: EMAIL_FROM, configurationSet: EMAIL_CONFIGURATION_SET }
  const ses = emailSender(new SESv2Client(sendOnce(SES_CALL_MS)), settings)
  const simulated = simulatedEmail(now, newId)
  return { send: (email) => (email.isTest ? simulated : ses).send(email) }
}

/** The time between two emails of one invocation, so that all invocations together send at this rate. */
export const emailIntervalMs = (emailsPerSecond: number): number =>
  (1000 * sendEmailWorker.trigger.maxConcurrency.emails) / emailsPerSecond

type Pacing = {
  /** The time between the beginnings of two pieces of work. */
  readonly intervalMs: number
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<unknown>
}

/**
 * Returns a function that waits until the next piece of work may begin. It does not wait for the one before to end, so
 * work that takes longer than the interval overlaps.
 */
export function pacing({ intervalMs, now, sleep }: Pacing): () => Promise<void> {
  let next = Number.NEGATIVE_INFINITY
  return async () => {
    const waitMs = Math.max(0, next - now())
    next = now() + waitMs + intervalMs
    if (waitMs > 0) await sleep(waitMs)
  }
}

/** Returns a function that waits until the next email may begin. Uses a clock that never goes back. */
export const openEmailPacing = () =>
  pacing({
    intervalMs: emailIntervalMs(readEmailEnvironment().EMAILS_PER_SECOND),
    now: () => performance.now(),
    sleep,
  })
