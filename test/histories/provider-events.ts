/** Events of SES as the stack's rules forward them, and delivery receipts of SNS as CloudWatch Logs delivers them. */
import { gzipSync } from 'node:zlib'
import type { FeedbackReport } from './world.ts'

/** The function that receives it, and what it receives. */
type Received = readonly [functionId: string, event: object]

export function emailEvent({ clinic, id, kind }: FeedbackReport, provider: string): Received {
  const body = {
    event: kind === 'delivered' ? 'Delivery' : 'Bounce',
    clinic: [clinic],
    message: [id],
    provider_message_id: provider,
    at: new Date().toISOString(),
    detail: kind === 'delivered' ? [] : ['Permanent', 'General'],
  }
  const record = { messageId: `feedback-${id}`, body: JSON.stringify(body), eventSourceARN: 'feedback' }
  return ['email-feedback', { Records: [record] }]
}

export function smsReceipt({ kind }: FeedbackReport, provider: string): Received {
  const receipt = {
    notification: { messageId: provider, timestamp: '2026-05-01 07:00:00.123' },
    delivery: { providerResponse: 'Unknown' },
    status: kind === 'delivered' ? 'SUCCESS' : 'FAILURE',
  }
  const logEvents = [{ id: '1', timestamp: Date.now(), message: JSON.stringify(receipt) }]
  const data = gzipSync(JSON.stringify({ messageType: 'DATA_MESSAGE', logEvents })).toString('base64')
  return ['sms-receipts', { awslogs: { data } }]
}
