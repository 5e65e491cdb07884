import type { SQSMessageAttributes, SQSRecord } from 'aws-lambda'

/** A message as ReceiveMessage returns it in SQS's JSON protocol. */
export type SqsMessage = {
  readonly MessageId: string
  readonly ReceiptHandle: string
  readonly Body: string
  readonly MD5OfBody: string
  readonly Attributes?: Readonly<Record<string, string>>
  readonly MessageAttributes?: Readonly<
    Record<
      string,
      { readonly DataType: string; readonly StringValue?: string; readonly BinaryValue?: string }
    >
  >
}

/** The record that a function receives for a message. */
export function recordOf(message: SqsMessage, eventSourceARN: string, awsRegion: string): SQSRecord {
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body,
    attributes: { ...message.Attributes } as unknown as SQSRecord['attributes'],
    messageAttributes: messageAttributes(message),
    md5OfBody: message.MD5OfBody,
    eventSource: 'aws:sqs',
    eventSourceARN,
    awsRegion,
  }
}

const messageAttributes = ({ MessageAttributes = {} }: SqsMessage): SQSMessageAttributes =>
  Object.fromEntries(
    Object.entries(MessageAttributes).map(([name, { DataType, StringValue, BinaryValue }]) => [
      name,
      {
        ...(StringValue !== undefined && { stringValue: StringValue }),
        ...(BinaryValue !== undefined && { binaryValue: BinaryValue }),
        stringListValues: [],
        binaryListValues: [],
        dataType: DataType,
      },
    ]),
  )

/**
 * The messages of a batch that succeeded. If the function reports failures, those are left out; a malformed report, or
 * one with an unknown id, fails the whole batch, as on Lambda.
 */
export function processedMessages<M extends { readonly MessageId: string }>(
  messages: readonly M[],
  payload: string,
  partialResponses: boolean,
): readonly M[] {
  if (!partialResponses) return messages
  const response = JSON.parse(payload) as { batchItemFailures?: unknown } | null
  const failures = response?.batchItemFailures ?? []
  if (!Array.isArray(failures)) return []
  const failed = new Set(failures.map((failure) => (failure as { itemIdentifier?: unknown })?.itemIdentifier))
  const batchIds = new Set<unknown>(messages.map(({ MessageId }) => MessageId))
  if ([...failed].some((id) => !batchIds.has(id))) return []
  return messages.filter(({ MessageId }) => !failed.has(MessageId))
}
