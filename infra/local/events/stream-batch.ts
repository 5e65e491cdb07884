import { createHash, randomUUID } from 'node:crypto'
import type { DynamoDBRecord } from 'aws-lambda'
import { type EventPattern, matches } from './event-pattern.ts'
import type { StreamRecord } from './table-streams.ts'

type Source = {
  /** The ARN in the template. */
  readonly arn: string
  /** The name in the engine. */
  readonly streamArn: string
  readonly region: string
}

/** The record that a function receives for a change. */
export function recordOf(record: StreamRecord, { arn, streamArn, region }: Source): DynamoDBRecord {
  const { eventName, userIdentity, dynamodb } = record
  return {
    eventID: createHash('md5').update(`${streamArn}/${dynamodb.SequenceNumber}`).digest('hex'),
    eventName: eventName as NonNullable<DynamoDBRecord['eventName']>,
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: region,
    dynamodb: dynamodb as NonNullable<DynamoDBRecord['dynamodb']>,
    ...(userIdentity && { userIdentity }),
    eventSourceARN: arn,
  }
}

/** Lambda's report of a batch that it discards: its position in the stream, not its records. */
export function discardedBatch(
  records: readonly DynamoDBRecord[],
  { functionArn, attempts }: { readonly functionArn: string; readonly attempts: number },
) {
  const arrival = (record: DynamoDBRecord | undefined) =>
    new Date((record?.dynamodb?.ApproximateCreationDateTime ?? 0) * 1000).toISOString()
  const [first, last] = [records[0], records.at(-1)]
  return {
    requestContext: {
      requestId: randomUUID(),
      functionArn,
      condition: 'RetryAttemptsExhausted',
      approximateInvokeCount: attempts,
    },
    responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
    version: '1.0',
    timestamp: new Date().toISOString(),
    DDBStreamBatchInfo: {
      shardId: 'shardId-local',
      startSequenceNumber: first?.dynamodb?.SequenceNumber,
      endSequenceNumber: last?.dynamodb?.SequenceNumber,
      approximateArrivalOfFirstRecord: arrival(first),
      approximateArrivalOfLastRecord: arrival(last),
      batchSize: records.length,
      streamArn: first?.eventSourceARN,
    },
  }
}

/** The records that match the filters, in batches. */
export function batchesOf(
  records: readonly DynamoDBRecord[],
  { filters, batchSize }: { readonly filters: readonly EventPattern[]; readonly batchSize: number },
): DynamoDBRecord[][] {
  const wanted = records.filter(
    (record) => filters.length === 0 || filters.some((filter) => matches(filter, record)),
  )
  return Array.from({ length: Math.ceil(wanted.length / batchSize) }, (_, at) =>
    wanted.slice(at * batchSize, (at + 1) * batchSize),
  )
}
