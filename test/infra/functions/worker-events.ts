/** Events that invoke workers. */
import { gzipSync } from 'node:zlib'
import { newUuid } from '../../../shared/domain/uuid.ts'

/** Messages of a queue. */
export const batch = (bodies: object[]) => ({
  Records: bodies.map((body, at) => ({
    messageId: String(at),
    body: JSON.stringify(body),
    attributes: {},
    eventSourceARN: 'arn:aws:sqs:us-east-1:0:clinic-dev-deliveries',
  })),
})

/** The message of an email that waits to be sent. */
export const queued = (clinic: string, message: string) => ({ clinic, message, waits: 0 })

/** Feedback of SES. */
export const feedback = (clinic: string, event: string, message: string, facts: object = {}) => ({
  event,
  clinic: [clinic],
  message: [message],
  provider_message_id: newUuid(),
  at: new Date().toISOString(),
  detail: [],
  ...facts,
})

/** Receipts of SMS with these ids of SNS, as its log group sends them. */
export const receiptsOf = (ids: string[], status = 'SUCCESS') => {
  const logEvents = ids.map((messageId) => ({
    timestamp: Date.now(),
    message: JSON.stringify({
      notification: { messageId, timestamp: '2026-05-01 07:00:00.000' },
      delivery: { destination: '+905320000001' },
      status,
    }),
  }))
  return { awslogs: { data: gzipSync(JSON.stringify({ logEvents })).toString('base64') } }
}
