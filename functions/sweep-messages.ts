import { sweepMessages } from '../shared/delivery/sweep-messages.ts'
import { openEmailQueue } from '../shared/runtime/messaging.ts'
import { worker } from '../shared/runtime/worker.ts'
import { sweepMessagesWorker } from '../shared/runtime/workers.ts'
import { messageDispatch } from '../shared/store/messages/dispatch.ts'

/** Runs every minute. Processes the messages that are due, of all clinics. */
export const handler = worker(
  sweepMessagesWorker,
  { messages: messageDispatch, queue: openEmailQueue },
  (_event: unknown, { messages, queue }, { now, count }) => sweepMessages({ messages, queue, now, count }),
)
