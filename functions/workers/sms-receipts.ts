import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type { CloudWatchLogsDecodedData, CloudWatchLogsEvent } from 'aws-lambda'
import { readSmsReceipt } from '../../shared/delivery/email/feedback.ts'
import { SMS_CLAIM_MS } from '../../shared/domain/messages/accept-message.ts'
import { PROVIDERS } from '../../shared/domain/messages/message.ts'
import { worker } from '../../shared/runtime/worker.ts'
import { smsReceiptsWorker } from '../../shared/runtime/workers.ts'
import { messageDispatch } from '../../shared/store/messages/dispatch.ts'
import { tableReplacement } from '../../shared/store/table-replacement.ts'

/**
 * Records the delivery receipts of SNS in the communication log, where the operator has enabled them. SNS reports all SMS
 * of the account, so most unknown ones are of another application. A few arrive before our SMS is recorded as sent: what
 * is unknown is looked up again when no claim on an SMS can last any longer.
 */
export const handler = worker(
  smsReceiptsWorker,
  { messages: messageDispatch, replacement: tableReplacement },
  async ({ awslogs }: CloudWatchLogsEvent, { messages, replacement }, { now, count }) => {
    const { logEvents } = JSON.parse(
      gunzipSync(Buffer.from(awslogs.data, 'base64')).toString('utf8'),
    ) as CloudWatchLogsDecodedData
    const receipts = logEvents.flatMap(({ message, timestamp }) => {
      const receipt = readSmsReceipt(message)
      if (receipt) return [{ ...receipt, knownFrom: timestamp + SMS_CLAIM_MS }]
      count('receipt_unreadable')
      return []
    })
    const record = async ({ providerMessageId, feedback }: (typeof receipts)[number]): Promise<boolean> => {
      const found = await messages.findByProviderId(PROVIDERS.sms, providerMessageId)
      if (!found) return false
      await replacement.requireNone(found.clinic)
      await messages.recordFeedback(found.clinic, found.id, feedback)
      return true
    }
    const unknown: typeof receipts = []
    for (const receipt of receipts) if (!(await record(receipt))) unknown.push(receipt)
    const wait = Math.max(...unknown.map(({ knownFrom }) => knownFrom - now()))
    if (wait > 0) await sleep(wait)
    for (const receipt of unknown) if (wait <= 0 || !(await record(receipt))) count('feedback_for_nobody')
  },
)
