/** Dead letters on their way back, on the real engine and where SQS takes only a part of a batch. */
import {
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { redrive } from '../../../../bin/clinic/dead-letters/dead-letters.ts'
import { callSqs, type QueueEngine, queueUrl, startQueues } from '../../../../infra/local/engines/queues.ts'
import { mockClient } from '../../../support/mock-client.ts'
import { queueClient } from '../../../support/queue-client.ts'

type Received = { Messages?: { Body: string; ReceiptHandle: string }[] }

describe('redriving on the engine', () => {
  let engine: QueueEngine
  let client: SQSClient
  let urls: { queue: string; deadLetters: string }
  let made = 0

  beforeAll(async () => {
    engine = await startQueues('us-east-1')
    client = queueClient(engine.endpoint)
  })
  afterAll(async () => {
    client.destroy()
    await engine.stop()
  })
  beforeEach(async () => {
    made++
    const [queue, deadLetters] = [`queue-${made}`, `dead-${made}`]
    for (const QueueName of [queue, deadLetters]) await sqs('CreateQueue', { QueueName })
    urls = { queue: queueUrl(engine.endpoint, queue), deadLetters: queueUrl(engine.endpoint, deadLetters) }
  })

  const sqs = <Output>(action: string, input: object) => callSqs<Output>(engine.endpoint, action, input)
  const bury = (MessageBody: string) => sqs('SendMessage', { QueueUrl: urls.deadLetters, MessageBody })
  const take = async (QueueUrl: string): Promise<string[]> => {
    const { Messages = [] } = await sqs<Received>('ReceiveMessage', { QueueUrl, MaxNumberOfMessages: 10 })
    for (const { ReceiptHandle } of Messages) await sqs('DeleteMessage', { QueueUrl, ReceiptHandle })
    const bodies = Messages.map(({ Body }) => Body)
    return bodies.length === 0 ? [] : [...bodies, ...(await take(QueueUrl))]
  }

  it('moves every message unchanged, duplicates included', async () => {
    const bodies = Array.from({ length: 25 }, (_, at) => JSON.stringify({ message: at % 20, waits: 0 }))
    for (const body of bodies) await bury(body)
    expect(await redrive(client, urls, Date.now)).toEqual({ moved: 25, left: 0 })
    expect((await take(urls.queue)).sort()).toEqual(bodies.sort())
    expect(await take(urls.deadLetters)).toEqual([])
  })

  it('moves nothing from an empty queue', async () => {
    expect(await redrive(client, urls, Date.now)).toEqual({ moved: 0, left: 0 })
  })

  it('ends when moved messages fail again immediately', async () => {
    await bury('poison')
    await bury('poison too')
    let over = false
    const bearer = (async () => {
      while (!over) for (const body of await take(urls.queue)) await bury(body)
    })()
    const waiting = queueClient(engine.endpoint, 1)
    const result = await redrive(waiting, urls, Date.now).finally(() => {
      over = true
      waiting.destroy()
    })
    await bearer
    expect(result.moved).toBeGreaterThanOrEqual(2)
    // The engine's clock may stand still for a moment, in which they come and go.
    expect(result.moved).toBeLessThan(20)
    expect(result.left).toBe(2)
  })
})

describe('redriving when SQS processes a batch partially', () => {
  const client = new SQSClient({})
  const sqs = mockClient(client)
  const urls = { queue: 'https://queue', deadLetters: 'https://dead' }
  const letter = (name: string, sentAt = 1) => ({
    MessageId: name,
    ReceiptHandle: `handle of ${name}`,
    Body: name,
    Attributes: { SentTimestamp: String(sentAt) },
  })
  const receives = (...polls: ReturnType<typeof letter>[][]) =>
    polls.reduce((on, Messages) => on.resolvesOnce({ Messages }), sqs.on(ReceiveMessageCommand)).resolves({})
  const failing = (Id: string) => ({ Id, SenderFault: false, Code: 'InternalError' })
  const taken = (Id: string) => ({ Id, MessageId: `new ${Id}`, MD5OfMessageBody: '' })
  const deleted = () =>
    sqs
      .commandCalls(DeleteMessageBatchCommand)
      .map(({ args }) => args[0].input.Entries?.map(({ ReceiptHandle }) => ReceiptHandle))

  beforeEach(() => {
    sqs.reset()
    sqs.on(DeleteMessageBatchCommand).resolves({ Successful: [], Failed: [] })
  })

  it('does not delete a message that the queue rejected', async () => {
    receives([letter('a'), letter('b'), letter('c')], [letter('b')])
    sqs.on(SendMessageBatchCommand).resolves({ Successful: [taken('0'), taken('2')], Failed: [failing('1')] })
    expect(await redrive(client, urls, () => 10)).toEqual({ moved: 2, left: 1 })
    expect(deleted()).toEqual([['handle of a', 'handle of c']])
  })

  it('keeps the group of a message, which makes the queue fair to clinics', async () => {
    const grouped = { ...letter('a'), Attributes: { SentTimestamp: '1', MessageGroupId: 'clinic' } }
    receives([grouped, letter('b')])
    sqs.on(SendMessageBatchCommand).resolves({ Successful: [taken('0'), taken('1')], Failed: [] })
    expect(await redrive(client, urls, () => 10)).toEqual({ moved: 2, left: 0 })
    const [received] = sqs.commandCalls(ReceiveMessageCommand)
    expect(received?.args[0].input.MessageSystemAttributeNames).toContain('MessageGroupId')
    const [sent] = sqs.commandCalls(SendMessageBatchCommand)
    expect(sent?.args[0].input.Entries).toEqual([
      { Id: '0', MessageBody: 'a', MessageGroupId: 'clinic' },
      { Id: '1', MessageBody: 'b' },
    ])
  })

  it('retries a failed deletion without sending the message again', async () => {
    receives([letter('a'), letter('b')], [letter('a')])
    sqs.on(SendMessageBatchCommand).resolves({ Successful: [taken('0'), taken('1')], Failed: [] })
    sqs
      .on(DeleteMessageBatchCommand)
      .resolvesOnce({ Successful: [{ Id: '0' }], Failed: [failing('1')] })
      .resolves({ Successful: [{ Id: '0' }], Failed: [] })
    expect(await redrive(client, urls, () => 10)).toEqual({ moved: 2, left: 0 })
    expect(sqs.commandCalls(SendMessageBatchCommand).length).toBe(1)
    expect(deleted()).toEqual([['handle of a', 'handle of b'], ['handle of b'], ['handle of a']])
  })

  it('fails when SQS deletes nothing, instead of duplicating every message', async () => {
    receives([letter('a')], [letter('b')])
    sqs.on(SendMessageBatchCommand).resolves({ Successful: [taken('0')], Failed: [] })
    sqs.on(DeleteMessageBatchCommand).resolves({ Successful: [], Failed: [failing('0')] })
    await expect(redrive(client, urls, () => 10)).rejects.toThrow('SQS did not delete')
    expect(sqs.commandCalls(SendMessageBatchCommand).length).toBe(1)
  })

  it('moves old messages behind many that arrived after the start', async () => {
    const newer = (poll: number) => Array.from({ length: 10 }, (_, at) => letter(`newer ${poll} ${at}`, 11))
    receives(newer(1), newer(2), newer(3), [letter('a')])
    sqs.on(SendMessageBatchCommand).resolves({ Successful: [taken('0')], Failed: [] })
    expect(await redrive(client, urls, () => 10)).toEqual({ moved: 1, left: 30 })
  })

  it('ends when new messages keep arriving', async () => {
    let poll = 0
    sqs.on(ReceiveMessageCommand).callsFake(() => ({ Messages: [letter(`newer ${poll++}`, 11)] }))
    expect((await redrive(client, urls, () => 10)).moved).toBe(0)
  })

  it('leaves messages that arrived after the start', async () => {
    receives([letter('a', 11)])
    expect(await redrive(client, urls, () => 10)).toEqual({ moved: 0, left: 1 })
    expect(sqs.commandCalls(SendMessageBatchCommand)).toEqual([])
  })
})
