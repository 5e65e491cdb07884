/** Dead letters are read, given back, moved and deleted, and nothing but ids, times and counts of them is shown. */
import {
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { deadLetterJson, redrive } from '../../../../bin/clinic/dead-letters/dead-letters.ts'
import { callSqs, queueUrl, startQueues } from '../../../../infra/local/engines/queues.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { deployedStack } from '../../../support/deployed-stack.ts'
import { mockClient } from '../../../support/mock-client.ts'
import { queueClient } from '../../../support/queue-client.ts'

type Received = { Messages?: { Body: string; ReceiptHandle: string }[] }

describe('on the engine', () => {
  let engine: Awaited<ReturnType<typeof startQueues>>
  let client: SQSClient
  let stack: Awaited<ReturnType<typeof deployedStack>>
  let queue: { name: string; client: SQSClient; url: string; source: string }
  const outputs: Record<string, string> = { OperatorLogGroup: 'operator-group' }
  let made = 0

  beforeAll(async () => {
    engine = await startQueues('us-east-1')
    client = queueClient(engine.endpoint)
    stack = await deployedStack(outputs)
    vi.stubEnv('AWS_ENDPOINT_URL_SQS', engine.endpoint)
  })
  afterAll(async () => {
    client.destroy()
    await engine.stop()
  })
  beforeEach(() => open(''))

  const sqs = <Output>(action: string, input: object) => callSqs<Output>(engine.endpoint, action, input)
  /** Creates a queue with its dead letters, as those of emails. */
  async function open(suffix: string, Attributes = {}) {
    const names = [`queue-${++made}${suffix}`, `dead-${made}${suffix}`]
    for (const QueueName of names) await sqs('CreateQueue', { QueueName, Attributes })
    const [source, url] = names.map((name) => queueUrl(engine.endpoint, name)) as [string, string]
    queue = { name: 'emails', client, url, source }
    outputs.EmailQueueUrl = source
    outputs.DeadEmailQueueUrl = url
  }
  const bury = (MessageBody: string, more = {}) =>
    sqs('SendMessage', { QueueUrl: queue.url, MessageBody, ...more })
  const receive = async (QueueUrl: string) =>
    (await sqs<Received>('ReceiveMessage', { QueueUrl, MaxNumberOfMessages: 10 })).Messages ?? []
  /** Receives and deletes all. */
  async function take(QueueUrl: string): Promise<string[]> {
    const messages = await receive(QueueUrl)
    for (const { ReceiptHandle } of messages) await sqs('DeleteMessage', { QueueUrl, ReceiptHandle })
    return messages.length === 0 ? [] : [...messages.map(({ Body }) => Body), ...(await take(QueueUrl))]
  }
  const run = (...args: string[]) => stack.run('--json', 'dead-letter', ...args, '--queue', 'emails')
  const bodies = (count: number) => Array.from({ length: count }, (_, at) => `${at + 10}`)

  it('are all listed, more than one call returns included, and all are given back', async () => {
    for (const body of bodies(12)) await bury(body)
    const { code, printed } = await run('list')
    expect([code, JSON.parse(printed).data.length]).toEqual([0, 12])
    expect(JSON.parse((await run('list', '--limit', '3')).printed).data).toHaveLength(3)
    expect((await take(queue.url)).sort()).toEqual(bodies(12))
  })

  it('are left to others while the operator is asked, and one that was deleted meanwhile is named', async () => {
    for (const body of bodies(12)) await bury(body)
    const listed = JSON.parse((await run('list')).printed).data
    const discard = ({ letter_id }: { letter_id: string }, meanwhile = async () => {}) =>
      stack.runAsked(
        async () => {
          await meanwhile()
          return 'yes'
        },
        ...['dead-letter', 'delete', letter_id, '--queue', 'emails'],
      )
    expect((await discard(listed[0])).code).toBe(0)
    expect(JSON.parse((await run('count')).printed).data).toEqual([{ queue: 'emails', letters: 11 }])
    const outcome = await discard(listed[1], async () => {
      expect((await take(queue.url)).length).toBe(11)
    })
    expect([outcome.code, outcome.errors]).toEqual([2, expect.stringContaining('There is no dead letter')])
  })

  it('move unchanged, duplicates included', async () => {
    const dead = Array.from({ length: 25 }, (_, at) => JSON.stringify({ message: at % 20, waits: 0 }))
    for (const body of dead) await bury(body)
    expect(await redrive(queue)).toEqual({ queue: 'emails', moved: 25, left: 0 })
    expect((await take(queue.source)).sort()).toEqual(dead.sort())
    expect(await take(queue.url)).toEqual([])
  })

  it('that fail again immediately are left', async () => {
    await bury('poison')
    await bury('poison too')
    let over = false
    const bearer = (async () => {
      while (!over) for (const body of await take(queue.source)) await bury(body)
    })()
    const waiting = queueClient(engine.endpoint, 1)
    const result = await redrive({ ...queue, client: waiting }).finally(() => {
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

describe('a redrive when SQS processes a batch partially', () => {
  const client = new SQSClient({})
  const sqs = mockClient(client)
  const queue = { name: 'emails', client, url: 'https://dead', source: 'https://queue' }
  const letter = (name: string, more = {}) => ({
    MessageId: name,
    ReceiptHandle: `handle of ${name}`,
    Body: name,
    Attributes: { SentTimestamp: '1', ...more },
  })
  const receives = (...letters: ReturnType<typeof letter>[]) =>
    sqs.on(ReceiveMessageCommand).resolvesOnce({ Messages: letters }).resolves({})
  const failing = (Id: string) => ({ Id, SenderFault: false, Code: 'InternalError' })

  beforeEach(() => {
    sqs.reset()
    sqs.on(SendMessageBatchCommand).resolves({ Successful: [], Failed: [] })
    sqs.on(DeleteMessageBatchCommand).resolves({ Successful: [], Failed: [] })
  })

  it('does not delete a message that the queue rejected', async () => {
    receives(letter('a'), letter('b'), letter('c'))
    sqs.on(SendMessageBatchCommand).resolves({ Successful: [], Failed: [failing('1')] })
    expect(await redrive(queue)).toMatchObject({ moved: 2, left: 1 })
    const [deleted] = sqs.commandCalls(DeleteMessageBatchCommand)
    const handles = deleted?.args[0].input.Entries?.map(({ ReceiptHandle }) => ReceiptHandle)
    expect(handles).toEqual(['handle of a', 'handle of c'])
  })

  it('keeps the group of a message, which makes the queue fair to clinics', async () => {
    receives(letter('a', { MessageGroupId: 'clinic' }), letter('b'))
    expect(await redrive(queue)).toMatchObject({ moved: 2, left: 0 })
    const [received] = sqs.commandCalls(ReceiveMessageCommand)
    expect(received?.args[0].input.MessageSystemAttributeNames).toContain('MessageGroupId')
    const [sent] = sqs.commandCalls(SendMessageBatchCommand)
    expect(sent?.args[0].input.Entries).toEqual([
      { Id: '0', MessageBody: 'a', MessageGroupId: 'clinic' },
      { Id: '1', MessageBody: 'b' },
    ])
  })

  it('fails when SQS does not delete, instead of duplicating every message', async () => {
    receives(...Array.from({ length: 20 }, (_, at) => letter(`${at}`)))
    sqs.on(DeleteMessageBatchCommand).resolves({ Successful: [], Failed: [failing('0')] })
    await expect(redrive(queue)).rejects.toThrow('SQS did not delete')
    expect(sqs.commandCalls(SendMessageBatchCommand).length).toBe(1)
  })

  it('leaves messages that arrived after the start', async () => {
    receives(letter('a', { SentTimestamp: String(Date.now() + 60_000) }))
    expect(await redrive(queue)).toMatchObject({ moved: 0, left: 1 })
    expect(sqs.commandCalls(SendMessageBatchCommand)).toEqual([])
  })
})

describe('what is shown of a dead letter', () => {
  const show = (body: unknown) =>
    deadLetterJson('emails', {
      MessageId: 'letter',
      Body: typeof body === 'string' ? body : JSON.stringify(body),
      Attributes: { SentTimestamp: '1795391361809' },
    })
  const [clinic, message, webhook, delivery] = Array.from({ length: 4 }, () => newUuid())
  const always = { queue: 'emails', letter_id: 'letter', sent_at: new Date(1795391361809).toISOString() }
  const at = '2026-11-22T10:00:00Z'

  it.each([
    ['an email', { clinic, message, waits: 2 }, { clinic_id: clinic, message_id: message, waits: 2 }],
    ['a delivery', { clinic, webhook, delivery }, { webhook_id: webhook, delivery_id: delivery }],
    [
      'feedback of SES',
      { event: 'Bounce', clinic: [clinic], message: [message], at, detail: ['canary'] },
      { clinic_id: clinic, message_id: message, event: 'Bounce', at },
    ],
  ])('is what %s refers to', (_, body, shown) => {
    expect(show(body)).toMatchObject({ ...always, is_malformed: false, ...shown })
    expect(JSON.stringify(show(body))).not.toContain('canary')
  })

  it.each([
    ['text', 'canary@example.com'],
    ['other fields', { recipient: 'canary@example.com' }],
    ['a text instead of an id', { clinic, message: 'canary@example.com' }],
    ['a list', ['canary@example.com']],
  ])('is only the size of a malformed body with %s', (_, body) => {
    const shown = show(body)
    expect(shown).toEqual({ ...always, is_malformed: true, bytes: expect.any(Number) })
    expect(JSON.stringify(shown)).not.toContain('canary')
  })
})
