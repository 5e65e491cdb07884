import { sweepMessages } from '../shared/delivery/sweep-messages.ts'
import { openEmailQueue } from '../shared/runtime/messaging.ts'
import { worker } from '../shared/runtime/worker.ts'
import { messageDispatch } from '../shared/store/messages/dispatch.ts'

/** Every minute, over all clinics. */
export const handler = worker(
  'sweep-messages',
  { log: messageDispatch, queue: openEmailQueue },
  (_event: unknown, { log, queue }, { now, count }) => sweepMessages({ log, queue, now, count }),
)
