import { readEmailFeedback } from '../shared/delivery/feedback.ts'
import { queueWorker } from '../shared/runtime/worker.ts'
import { messageDispatch } from '../shared/store/messages/dispatch.ts'

/** Notes in the log what SES says became of an email. */
export const handler = queueWorker(
  'email-feedback',
  { messages: messageDispatch },
  async ({ body }, { messages }, { count }) => {
    const { clinic, message, feedback } = readEmailFeedback(body)
    if (!(await messages.recordFeedback(clinic, message, feedback))) count('feedback_for_nobody')
  },
)
