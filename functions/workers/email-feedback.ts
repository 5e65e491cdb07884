import { readEmailFeedback } from '../../shared/delivery/email/feedback.ts'
import { queueWorker } from '../../shared/runtime/worker.ts'
import { emailFeedbackWorker } from '../../shared/runtime/workers.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { messageDispatch } from '../../shared/store/messages/dispatch.ts'

/**
 * Records the feedback of SES on an email in the communication log. While a restored table is to replace this one, it fails: its dead letters
 * are for the other table.
 */
export const handler = queueWorker(
  emailFeedbackWorker,
  { messages: messageDispatch, clinics: clinicStore },
  async ({ body }, { messages, clinics }, { count }) => {
    const { clinic, message, feedback } = readEmailFeedback(body)
    await clinics.requireNotReplaced(clinic)
    if (!(await messages.recordFeedback(clinic, message, feedback))) count('feedback_for_nobody')
  },
)
