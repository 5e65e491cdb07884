import type { StreamViewType } from '@aws-sdk/client-dynamodb'
import { ACCOUNT_ID } from '../template/physical-names.ts'
import type { ResolvedResource, ResolvedTemplate } from '../template/template.ts'
import { checkPattern, type EventPattern } from './event-pattern.ts'
import type { TableStream } from './table-streams.ts'

type MappingProperties = {
  readonly EventSourceArn: string
  readonly FunctionName: string
  readonly BatchSize?: number
  readonly DestinationConfig?: { readonly OnFailure?: { readonly Destination: string } }
  readonly Enabled?: boolean
  readonly FilterCriteria?: { readonly Filters?: readonly { readonly Pattern: string }[] }
  readonly FunctionResponseTypes?: readonly string[]
  readonly MaximumRetryAttempts?: number
  readonly ScalingConfig?: { readonly MaximumConcurrency?: number }
}

/** A queue that feeds a function. */
export type QueueMapping = {
  readonly id: string
  readonly arn: string
  readonly functionArn: string
  readonly batchSize: number
  /** Whether the function reports which messages failed. */
  readonly partialResponses: boolean
  /** The maximum number of concurrent batches; null for no limit. */
  readonly maxConcurrency: number | null
}

/** A table's stream that feeds a function. */
export type StreamMapping = {
  readonly id: string
  readonly arn: string
  readonly table: string
  readonly functionArn: string
  readonly batchSize: number
  /** Retries after the first attempt; null for no limit. */
  readonly maxRetries: number | null
  /** The ARN of the queue that discarded batches are reported to; null without one. */
  readonly failureQueue: string | null
  /** A record is passed on if one of them matches, or if there are none. */
  readonly filters: readonly EventPattern[]
}

/**
 * Supported properties of stream mappings. The batching window and the parallelization factor are ignored: a batch
 * is passed on immediately, one at a time.
 */
const STREAM_PROPERTIES = new Set([
  'BatchSize',
  'DestinationConfig',
  'Enabled',
  'EventSourceArn',
  'FilterCriteria',
  'FunctionName',
  'MaximumBatchingWindowInSeconds',
  'MaximumRetryAttempts',
  'ParallelizationFactor',
  'StartingPosition',
  'Tags',
])

type TableProperties = { readonly StreamSpecification?: { readonly StreamViewType: StreamViewType } }

/** @throws Error that names an unsupported mapping */
export function eventSourceMappings(template: ResolvedTemplate, region: string) {
  const tables = template.resourcesOf<TableProperties>('AWS::DynamoDB::Table').map(({ id, properties }) => ({
    name: template.ref(id),
    view: properties.StreamSpecification?.StreamViewType,
    streamArn: properties.StreamSpecification && template.attribute(id, 'StreamArn'),
  }))
  const queues: QueueMapping[] = []
  const streams: StreamMapping[] = []
  for (const mapping of template.resourcesOf<MappingProperties>('AWS::Lambda::EventSourceMapping')) {
    const { EventSourceArn, Enabled } = mapping.properties
    if (Enabled === false) continue
    const table = tables.find(({ streamArn }) => streamArn === EventSourceArn)
    if (table) streams.push(streamMapping(mapping, table.name, region))
    else if (EventSourceArn.startsWith('arn:aws:sqs:')) queues.push(queueMapping(mapping, region))
    else
      throw new Error(
        `${mapping.id} maps ${EventSourceArn} to a function; the local stack feeds functions from SQS queues and its tables' streams only.`,
      )
  }
  const isRead = (name: string) => streams.some(({ table }) => table === name)
  return {
    queues,
    streams,
    /** Every table, with the view of its stream if a mapping reads it. */
    tableStreams: tables.map(
      ({ name, view }): TableStream => ({ table: name, view: (isRead(name) && view) || null }),
    ),
  }
}

function queueMapping({ id, properties }: ResolvedResource<MappingProperties>, region: string): QueueMapping {
  if (properties.FilterCriteria)
    throw new Error(`${id} has FilterCriteria, which the local stack does not support for queues.`)
  return {
    id,
    arn: properties.EventSourceArn,
    functionArn: functionArn(properties, region),
    batchSize: properties.BatchSize ?? 10,
    partialResponses: properties.FunctionResponseTypes?.includes('ReportBatchItemFailures') ?? false,
    maxConcurrency: properties.ScalingConfig?.MaximumConcurrency ?? null,
  }
}

function streamMapping(
  { id, properties }: ResolvedResource<MappingProperties>,
  table: string,
  region: string,
): StreamMapping {
  const unknownProperty = Object.keys(properties).find((name) => !STREAM_PROPERTIES.has(name))
  if (unknownProperty)
    throw new Error(`${id} has ${unknownProperty}, which the local stack does not support for streams.`)
  const { BatchSize = 100, MaximumRetryAttempts = -1 } = properties
  const filters = (properties.FilterCriteria?.Filters ?? []).map(
    ({ Pattern }): EventPattern => JSON.parse(Pattern),
  )
  for (const filter of filters) checkPattern(filter, id)
  const failureQueue = properties.DestinationConfig?.OnFailure?.Destination ?? null
  if (failureQueue !== null && !failureQueue.startsWith('arn:aws:sqs:'))
    throw new Error(`${id} reports failures to ${failureQueue}; the local stack supports SQS queues only.`)
  return {
    id,
    arn: properties.EventSourceArn,
    table,
    functionArn: functionArn(properties, region),
    batchSize: BatchSize,
    maxRetries: MaximumRetryAttempts === -1 ? null : MaximumRetryAttempts,
    failureQueue,
    filters,
  }
}

/** Mappings refer to functions by ARN or by name. */
const functionArn = ({ FunctionName: name }: MappingProperties, region: string): string =>
  name.startsWith('arn:') ? name : `arn:aws:lambda:${region}:${ACCOUNT_ID}:function:${name}`
