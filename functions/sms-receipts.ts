import { gunzipSync } from 'node:zlib'
import type { CloudWatchLogsDecodedData, CloudWatchLogsEvent } from 'aws-lambda'
import { readSmsReceipt } from '../shared/delivery/feedback.ts'
import { PROVIDERS } from '../shared/domain/message.ts'
import { worker } from '../shared/runtime/worker.ts'
import { smsReceiptsWorker } from '../shared/runtime/workers.ts'
import { messageDispatch } from '../shared/store/messages/dispatch.ts'

/** A receipt may arrive before its SMS is recorded as sent. After this time, the SMS is not one of ours. */
const EARLY_RECEIPT_MS = 5 * 60_000

/** Records the delivery receipts of SNS in the communication log, where the operator has enabled them. */
export const handler = worker(
  smsReceiptsWorker,
  { messages: messageDispatch },
  async ({ awslogs }: CloudWatchLogsEvent, { messages }, { now, count }) => {
    const { logEvents } = JSON.parse(
      gunzipSync(Buffer.from(awslogs.data, 'base64')).toString('utf8'),
    ) as CloudWatchLogsDecodedData
    let earlyCount = 0
    for (const { message, timestamp } of logEvents) {
      const receipt = readSmsReceipt(message)
      if (!receipt) {
        count('receipt_unreadable')
        continue
      }
      const { providerMessageId, feedback } = receipt
      const found = await messages.findByProviderId(PROVIDERS.sms, providerMessageId)
      if (found) await messages.recordFeedback(found.clinic, found.id, feedback)
      else if (now() - timestamp < EARLY_RECEIPT_MS) earlyCount++
      else count('feedback_for_nobody')
    }
    // Lambda invokes the function again. Recording the same receipt twice changes nothing.
    if (earlyCount > 0) throw new Error('some receipts arrived before their messages were recorded')
  },
)
