import { sweepMessages } from '../../shared/delivery/email/sweep-messages.ts'
import { openEmailQueue } from '../../shared/runtime/messaging.ts'
import { sweepWorker } from '../../shared/runtime/sweep.ts'
import { sweepMessagesWorker } from '../../shared/runtime/workers.ts'
import { DUE_MESSAGE_PARTITIONS } from '../../shared/store/keys/messages.ts'
import { messageDispatch } from '../../shared/store/messages/dispatch.ts'
import { pausedClinics } from '../../shared/store/paused-clinics.ts'

/** Runs every minute, in parts. Processes the messages that are due, of all clinics. */
export const handler = sweepWorker(
  sweepMessagesWorker,
  { dispatch: messageDispatch, queue: openEmailQueue, clinics: pausedClinics },
  ({ dispatch, queue, clinics }, { now, count, partitionsOf, reportLag }) => {
    const partitions = partitionsOf(DUE_MESSAGE_PARTITIONS)
    const dueBatches = (until: number, size: number) =>
      clinics.withoutPaused(dispatch.dueBatches(until, size, partitions))
    return sweepMessages({ messages: { ...dispatch, dueBatches }, queue, now, count, reportLag })
  },
)
