import { readEmailFeedback } from '../../shared/delivery/email/feedback.ts'
import { queueWorker } from '../../shared/runtime/worker.ts'
import { emailFeedbackWorker } from '../../shared/runtime/workers.ts'
import { messageDispatch } from '../../shared/store/messages/dispatch.ts'

/** Records the feedback of SES on an email in the communication log. */
export const handler = queueWorker(
  emailFeedbackWorker,
  { messages: messageDispatch },
  async ({ body }, { messages }, { count }) => {
    const { clinic, message, feedback } = readEmailFeedback(body)
    if (!(await messages.recordFeedback(clinic, message, feedback))) count('feedback_for_nobody')
  },
)
