import { readEmailFeedback } from '../../shared/delivery/email/feedback.ts'
import { queueWorker } from '../../shared/runtime/worker.ts'
import { emailFeedbackWorker } from '../../shared/runtime/workers.ts'
import { messageDispatch } from '../../shared/store/messages/dispatch.ts'
import { tableReplacement } from '../../shared/store/table-replacement.ts'

/**
 * Records the feedback of SES on an email in the communication log. While a restored table is to replace this one, it fails: its dead letters
 * are for the other table.
 */
export const handler = queueWorker(
  emailFeedbackWorker,
  { messages: messageDispatch, replacement: tableReplacement },
  async ({ body }, { messages, replacement }, { count }) => {
    const { clinic, message, feedback } = readEmailFeedback(body)
    await replacement.requireNone(clinic)
    if (!(await messages.recordFeedback(clinic, message, feedback))) count('feedback_for_nobody')
  },
)
