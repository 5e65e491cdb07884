import { readQueuedEmail } from '../../shared/delivery/email/email-queue.ts'
import {
  backoffSeconds,
  maxWaitSeconds,
  sendQueuedEmail,
} from '../../shared/delivery/email/send-queued-email.ts'
import type { SendResult } from '../../shared/delivery/send-result.ts'
import type { Message } from '../../shared/domain/messages/message.ts'
import { EMAIL_STEP_MS, openEmail, openEmailPacing, openEmailQueue } from '../../shared/runtime/messaging.ts'
import { queueWorker } from '../../shared/runtime/worker.ts'
import { sendEmailWorker } from '../../shared/runtime/workers.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { messageDispatch } from '../../shared/store/messages/dispatch.ts'
import { UnavailableError } from '../../shared/store/table/errors.ts'
import { withTimeLimit } from '../../shared/store/table/request-scope.ts'

/** Consumes the email queue, at the rate of SES. */
export const handler = queueWorker(
  sendEmailWorker,
  {
    messages: (platform) => {
      const { find, claim, recordFeedback, giveUp, markUnresolved, release, postpone } =
        messageDispatch(platform)
      const calls = { find, claim, recordFeedback, giveUp, markUnresolved, release, postpone }
      return withTimeLimit(EMAIL_STEP_MS, calls)
    },
    clinics: (platform) => withTimeLimit(EMAIL_STEP_MS, clinicStore(platform)),
    sender: openEmail,
    queue: openEmailQueue,
    waitForTurn: openEmailPacing,
  },
  async (
    { body },
    { messages, clinics, sender, queue, waitForTurn },
    { now, newId, count, logWork, recordMs },
  ) => {
    const email = readQueuedEmail(body)
    const { random } = Math
    try {
      const { clinic, request: requestId } = email
      const onSent = (result: SendResult, { acceptedAt, isTest }: Message) => {
        const reason = result.kind === 'accepted' ? null : result.reason
        logWork(sendEmailWorker.id, { clinic, requestId, outcome: result.kind, reason })
        // Queued again, an email is new to its queue: the age of the oldest message there says nothing of how long it waits.
        if (result.kind === 'unavailable' && !isTest)
          recordMs('email_wait_ms', now() - Date.parse(acceptedAt))
      }
      const consumer = {
        messages,
        mailSettings: clinics.find,
        sender,
        queue,
        waitForTurn,
        now,
        random,
        newToken: newId,
        onSent,
      }
      await sendQueuedEmail(consumer, email)
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error
      count('table_unavailable', { worker: sendEmailWorker.id }, error)
      // When the email was accepted cannot be read.
      recordMs('email_wait_ms', maxWaitSeconds(email.waits) * 1000)
      // The store is down. Pushed again, the email does not use up the receives after which it would be a dead letter.
      await queue.push({ ...email, waits: email.waits + 1 }, backoffSeconds(email.waits, random()))
    }
  },
)
