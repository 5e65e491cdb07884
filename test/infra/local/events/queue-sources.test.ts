import {
  GetQueueAttributesCommand,
  type QueueAttributeName,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import type { SQSEvent } from 'aws-lambda'
import { expect, it, onTestFinished } from 'vitest'
import { createQueues, queueUrl, startQueues } from '../../../../infra/local/engines/queues.ts'
import { eventSourceMappings } from '../../../../infra/local/events/event-source-mappings.ts'
import { processedMessages, startQueueSources } from '../../../../infra/local/events/queue-sources.ts'
import { resolveTemplate } from '../../../../infra/local/template/template.ts'
import { functionThat } from './recording-function.ts'

const REGION = 'eu-central-1'

/** Starts a queue with a dead-letter queue, maps it to the given function, and reads both with a real SQS client. */
async function mappedTo(act: (event: SQSEvent) => unknown, mapping: object = {}) {
  const engine = await startQueues(REGION)
  onTestFinished(engine.stop)
  const template = resolveTemplate(
    {
      Resources: {
        Work: {
          Type: 'AWS::SQS::Queue',
          Properties: {
            VisibilityTimeout: 1,
            RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['Dead', 'Arn'] }, maxReceiveCount: 1 },
          },
        },
        Dead: { Type: 'AWS::SQS::Queue' },
        Function: { Type: 'AWS::Lambda::Function' },
        Mapping: {
          Type: 'AWS::Lambda::EventSourceMapping',
          Properties: {
            EventSourceArn: { 'Fn::GetAtt': ['Work', 'Arn'] },
            FunctionName: { Ref: 'Function' },
            BatchSize: 5,
            ...mapping,
          },
        },
      },
    },
    { region: REGION, stackName: 'Test', queueUrl: (name) => queueUrl(engine.endpoint, name) },
  )
  await createQueues(template, engine.endpoint)
  const lines: string[] = []
  const { pool, events } = functionThat(act)
  const sources = startQueueSources({
    mappings: eventSourceMappings(template, REGION).queues,
    endpoint: engine.endpoint,
    region: REGION,
    getPool: () => pool,
    log: (line) => lines.push(line),
  })
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  const client = new SQSClient({ endpoint: engine.endpoint, region: REGION, credentials })
  onTestFinished(async () => {
    client.destroy()
    await sources.stop()
  })
  const receive = async (id: string) => {
    const received = await client.send(
      new ReceiveMessageCommand({ QueueUrl: template.ref(id), WaitTimeSeconds: 3 }),
    )
    return received.Messages?.map(({ Body }) => Body) ?? []
  }
  /** The number of messages in the work queue, visible or not. */
  const left = async () => {
    const AttributeNames: QueueAttributeName[] = [
      'ApproximateNumberOfMessages',
      'ApproximateNumberOfMessagesNotVisible',
    ]
    const input = { QueueUrl: template.ref('Work'), AttributeNames }
    const { Attributes = {} } = await client.send(new GetQueueAttributesCommand(input))
    return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0)
  }
  const send = (MessageBody: string) =>
    client.send(new SendMessageCommand({ QueueUrl: template.ref('Work'), MessageBody }))
  return { events, lines, send, receive, left }
}

it('invokes the function with a message in the format of Lambda and deletes it', async () => {
  const { events, send, left } = await mappedTo(() => undefined)
  const { MessageId } = await send('hello')
  await expect.poll(() => events.length).toBe(1)
  expect(events[0]?.Records[0]).toMatchObject({
    messageId: MessageId,
    body: 'hello',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:eu-central-1:000000000000:Test-Work',
    awsRegion: 'eu-central-1',
    attributes: { ApproximateReceiveCount: '1', SentTimestamp: expect.stringMatching(/^\d+$/) },
  })
  await expect.poll(left).toBe(0)
})

it('returns a message to the queue when the function fails, and finally to the dead-letter queue', async () => {
  const { send, receive, lines } = await mappedTo(() => new Error('x'))
  await send('poison')
  expect(await receive('Dead')).toEqual(['poison'])
  expect(lines).toContain('Function: Error: x')
  expect(lines).toContain('Function: 1 of 1 messages failed and return to the queue')
})

it('deletes only messages that the function does not report as failed', async () => {
  const report = ({ Records }: SQSEvent) => ({
    batchItemFailures: Records.flatMap(({ body, messageId }) =>
      body === 'bad' ? [{ itemIdentifier: messageId }] : [],
    ),
  })
  const { send, receive } = await mappedTo(report, { FunctionResponseTypes: ['ReportBatchItemFailures'] })
  await Promise.all([send('good'), send('bad')])
  expect(await receive('Dead')).toEqual(['bad'])
})

it.each([
  ['all, without reports', false, null, ['a', 'b']],
  ['all, when nothing is reported', true, null, ['a', 'b']],
  ['all, when no failure is reported', true, { batchItemFailures: [] }, ['a', 'b']],
  ['the others', true, { batchItemFailures: [{ itemIdentifier: 'a' }] }, ['b']],
  ['nothing, for an unknown message', true, { batchItemFailures: [{ itemIdentifier: 'c' }] }, []],
  ['nothing, for a report of another form', true, { batchItemFailures: ['a'] }, []],
  ['nothing, for a malformed list of failures', true, { batchItemFailures: 'a' }, []],
])('deletes %s', (_what, partial, result, expected) => {
  const messages = [{ MessageId: 'a' }, { MessageId: 'b' }]
  expect(
    processedMessages(messages, JSON.stringify(result), partial).map(({ MessageId }) => MessageId),
  ).toEqual(expected)
})
