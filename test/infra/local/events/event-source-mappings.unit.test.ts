import { expect, it } from 'vitest'
import { eventSourceMappings } from '../../../../infra/local/events/event-source-mappings.ts'
import { resolveTemplate } from '../../../../infra/local/template/template.ts'

const REGION = 'eu-central-1'

/** A queue and two tables, one of them with a stream, and the given mapping of a function to one of them. */
function mapped(source: string | [string, string], mapping: object = {}) {
  const template = resolveTemplate(
    {
      Resources: {
        Work: { Type: 'AWS::SQS::Queue' },
        Table: {
          Type: 'AWS::DynamoDB::Table',
          Properties: { StreamSpecification: { StreamViewType: 'KEYS_ONLY' } },
        },
        Plain: { Type: 'AWS::DynamoDB::Table' },
        Function: { Type: 'AWS::Lambda::Function' },
        Mapping: {
          Type: 'AWS::Lambda::EventSourceMapping',
          Properties: {
            EventSourceArn: typeof source === 'string' ? source : { 'Fn::GetAtt': source },
            FunctionName: { Ref: 'Function' },
            ...mapping,
          },
        },
      },
    },
    { region: REGION, stackName: 'Test', queueUrl: (name) => name },
  )
  return eventSourceMappings(template, REGION)
}

const STREAM: [string, string] = ['Table', 'StreamArn']

it('reads the mapping of a queue, which reads no stream of a table', () => {
  const { queues, streams, tableStreams } = mapped(['Work', 'Arn'], {
    ScalingConfig: { MaximumConcurrency: 2 },
  })
  const arn = 'arn:aws:sqs:eu-central-1:000000000000:Test-Work'
  expect(queues).toMatchObject([{ arn, batchSize: 10, partialResponses: false, maxConcurrency: 2 }])
  expect([streams, tableStreams.map(({ view }) => view)]).toEqual([[], [null, null]])
})

it('reads the mapping of a stream, which reads the view of its table alone', () => {
  const DestinationConfig = { OnFailure: { Destination: { 'Fn::GetAtt': ['Work', 'Arn'] } } }
  const { queues, streams, tableStreams } = mapped(STREAM, { BatchSize: 10, DestinationConfig })
  const failureQueue = 'arn:aws:sqs:eu-central-1:000000000000:Test-Work'
  expect(streams).toMatchObject([{ table: 'Test-Table', batchSize: 10, failureQueue, filters: [] }])
  expect([queues, tableStreams.map(({ view }) => view)]).toEqual([[], ['KEYS_ONLY', null]])
})

it.each([[{}], [{ MaximumRetryAttempts: -1 }]])('retries without limit by default: %o', (given) => {
  expect(mapped(STREAM, given).streams).toMatchObject([
    { maxRetries: null, batchSize: 100, filters: [], failureQueue: null },
  ])
})

it('ignores a disabled mapping', () => {
  expect(mapped('arn:aws:kinesis:x', { Enabled: false })).toMatchObject({ queues: [], streams: [] })
})

it.each<[string, string | [string, string], object, RegExp]>([
  ['another source', 'arn:aws:kinesis:x', {}, /Mapping maps arn:aws:kinesis:x .* its tables' streams/],
  ['a stream of no table here', 'arn:aws:dynamodb:x:0:table/T/stream/1', {}, /Mapping maps .*stream\/1/],
  ['a stream that the table does not have', ['Plain', 'StreamArn'], {}, /Mapping asks for Plain\.StreamArn/],
  ['a queue with a filter', ['Work', 'Arn'], { FilterCriteria: {} }, /Mapping has FilterCriteria/],
  [
    'a topic for failures',
    STREAM,
    { DestinationConfig: { OnFailure: { Destination: 'arn:aws:sns:x' } } },
    /Mapping reports failures to arn:aws:sns:x; .* SQS queues only/,
  ],
  ['a stream with windows', STREAM, { TumblingWindowInSeconds: 3 }, /Mapping has TumblingWindowInSeconds/],
  ['a stream that splits batches', STREAM, { BisectBatchOnFunctionError: true }, /Mapping has Bisect/],
  ['a stream with reports', STREAM, { FunctionResponseTypes: [] }, /Mapping has FunctionResponseTypes/],
  [
    'a stream with an odd filter',
    STREAM,
    { FilterCriteria: { Filters: [{ Pattern: '{"eventName":[{"anything-but":["REMOVE"]}]}' }] } },
    /Mapping matches eventName by .*anything-but.*the local stack does not support/,
  ],
])('rejects %s', (_what, source, mapping, message) => {
  expect(() => mapped(source, mapping)).toThrow(message)
})
