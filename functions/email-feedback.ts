import { readEmailFeedback } from '../shared/delivery/feedback.ts'
import { queueWorker } from '../shared/runtime/worker.ts'
import { messageDispatch } from '../shared/store/messages/dispatch.ts'

/** Notes in the log what SES says became of an email. */
export const handler = queueWorker(
  'email-feedback',
  { log: messageDispatch },
  async ({ body }, { log }, { count }) => {
    const { clinic, message, occurrence } = readEmailFeedback(body)
    if (!(await log.note(clinic, message, occurrence))) count('feedback_for_nobody')
  },
)
