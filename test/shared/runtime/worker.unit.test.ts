import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { queueWorker, worker } from '../../../shared/runtime/worker.ts'
import type { QueueName } from '../../../shared/runtime/workers.ts'
import { handlerOf, stubFunctionEnvironment } from '../../support/functions.ts'

const CANARY = 'CANARY-7351'

beforeEach(() => stubFunctionEnvironment('clinic-table'))

const batch = (...bodies: string[]) => ({
  Records: bodies.map((body, at) => ({
    messageId: `id-${at}`,
    body,
    attributes: { ApproximateReceiveCount: String(at + 1) },
  })),
})

/** The result or error of a handler, and the lines that it logs. */
async function run(handler: unknown, event: object) {
  const lines: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    lines.push(String(text))
    return true
  })
  try {
    const [result, error] = await (handler as (event: object) => Promise<unknown>)(event).then(
      (returned) => [returned, undefined],
      (thrown) => [undefined, thrown],
    )
    return { result, error: error as Error | undefined, lines }
  } finally {
    write.mockRestore()
  }
}

const parsed = (lines: string[]) => lines.map((line) => JSON.parse(line))

const failure = (name: string, error: string) => ({
  timestamp: expect.any(String),
  level: 'error',
  worker: name,
  error: 'failed',
  origin: { name: error, at: expect.any(Array) },
})

describe('queueWorker', () => {
  const consumer = (
    each: (message: { body: string; queue: string }) => Promise<void>,
    maxConcurrency: Partial<Record<QueueName, number>> = { emails: 1 },
  ) =>
    queueWorker({ id: 'consumer', trigger: { type: 'queue', maxConcurrency } } as never, {}, each) as unknown

  it('reports only the messages that failed', async () => {
    const handled: string[] = []
    const handler = consumer(async ({ body }) => {
      if (body.startsWith('bad')) throw new RangeError(body)
      handled.push(body)
    })
    const { result, lines } = await run(handler, batch('good 1', 'bad 1', 'good 2', 'bad 2'))
    expect(result).toEqual({ batchItemFailures: [{ itemIdentifier: 'id-1' }, { itemIdentifier: 'id-3' }] })
    expect(handled).toEqual(['good 1', 'good 2'])
    expect(parsed(lines)).toEqual([failure('consumer', 'RangeError'), failure('consumer', 'RangeError')])
  })

  it('reports no message when all succeed, and throws when all fail, which Lambda counts as an error', async () => {
    expect(
      await run(
        consumer(async () => {}),
        batch('a', 'b'),
      ),
    ).toMatchObject({
      result: { batchItemFailures: [] },
      lines: [],
    })
    const { error, lines } = await run(
      consumer(() => {
        throw new Error('at once')
      }),
      batch('a', 'b'),
    )
    expect(error?.message).toBe('consumer failed')
    expect(parsed(lines)).toEqual([failure('consumer', 'Error'), failure('consumer', 'Error')])
  })

  it('handles the messages of a batch concurrently', async () => {
    let running = 0
    const { promise: all, resolve } = Promise.withResolvers<void>()
    const handler = consumer(async () => {
      running += 1
      if (running === 3) resolve()
      await all
    })
    expect(await run(handler, batch('a', 'b', 'c'))).toMatchObject({ result: { batchItemFailures: [] } })
  })

  it('says which queue of the worker each message is from, and fails messages of other queues', async () => {
    const seen: unknown[] = []
    const handler = consumer(async ({ queue }) => void seen.push(queue), {
      deliveries: 1,
      'slow-deliveries': 1,
    })
    const Records = ['deliveries', 'slow-deliveries', 'emails'].map((queue) => ({
      messageId: queue,
      body: '{}',
      eventSourceARN: `arn:aws:sqs:us-east-1:0:clinic-dev-${queue}`,
    }))
    const { result } = await run(handler, { Records })
    expect(seen).toEqual(['deliveries', 'slow-deliveries'])
    expect(result).toEqual({ batchItemFailures: [{ itemIdentifier: 'emails' }] })
  })

  it.each<[string, (body: string) => unknown]>([
    ['an error that quotes it', (body) => new Error(`cannot send ${body}`)],
    [
      'an error that quotes it on several lines',
      (body) => new Error(`cannot send:\n${body}\n    at ${body} (x.ts:1:1)\n`),
    ],
    ['an error whose cause quotes it', (body) => new Error('no', { cause: new Error(body) })],
    ['a JSON parse error', (body) => JSON.parse(body)],
    ['a string', (body) => body],
    ['a plain object', (body) => ({ body })],
    ['an error with extra properties', (body) => Object.assign(new Error('no'), { body, recipient: body })],
  ])('logs nothing of a body when the handler throws %s', async (_, make) => {
    const handler = consumer(async ({ body }) => {
      throw make(body)
    })
    const { error, lines } = await run(handler, batch(`${CANARY} +905321234567`))
    expect(error?.message).toBe('consumer failed')
    expect(lines.length).toBe(1)
    expect(lines.join()).not.toMatch(/CANARY|90532|cannot send/)
  })
})

describe('worker', () => {
  it('returns the result of its function and opens its stores once', async () => {
    let opened = 0
    const store = () => {
      opened += 1
      return { twice: (n: number) => 2 * n }
    }
    const handler = worker({ id: 'doubler' }, { store }, async ({ n }: { n: number }, stores) =>
      stores.store.twice(n),
    )
    expect(await run(handler, { n: 2 })).toMatchObject({ result: 4, lines: [] })
    expect(await run(handler, { n: 3 })).toMatchObject({ result: 6 })
    expect(opened).toBe(1)
  })

  it('throws an error that contains only its id, because Lambda logs error messages', async () => {
    const handler = worker({ id: 'sweeper' }, {}, async () => {
      throw new TypeError(CANARY, { cause: new Error(CANARY) })
    })
    const { error, lines } = await run(handler, {})
    expect(error?.message).toBe('sweeper failed')
    expect(error?.cause).toBeUndefined()
    expect(error?.stack).not.toContain(CANARY)
    expect(parsed(lines)).toEqual([failure('sweeper', 'TypeError')])
    expect(lines.join()).not.toContain(CANARY)
  })

  it('logs where the error was thrown', async () => {
    const handler = worker({ id: 'sweeper' }, {}, async () => {
      throw new Error('no')
    })
    const [line] = parsed((await run(handler, {})).lines)
    expect(line.origin.at[0]).toContain('worker.unit.test.ts')
  })

  it('logs counts in the format that CloudWatch reads as metrics', async () => {
    const handler = worker({ id: 'sweeper' }, {}, async (_event, _stores, { count }) =>
      count('email_queued_again'),
    )
    expect(parsed((await run(handler, {})).lines)).toEqual([
      {
        _aws: {
          Timestamp: expect.any(Number),
          CloudWatchMetrics: [
            {
              Namespace: 'ClinicDeveloperApi',
              Dimensions: [['stage']],
              Metrics: [{ Name: 'email_queued_again', Unit: 'Count' }],
            },
          ],
        },
        stage: 'test',
        email_queued_again: 1,
      },
    ])
  })
})

describe('a malformed message', () => {
  const bodies = [
    '',
    CANARY,
    `{"${CANARY}"`,
    JSON.stringify({ [CANARY]: CANARY }),
    JSON.stringify({ clinic: CANARY, message: CANARY, waits: CANARY }),
    JSON.stringify({ event: CANARY, clinic: [CANARY], detail: [CANARY] }),
  ]

  it.each(['send-email', 'email-feedback'])('is reported as failed by %s and not logged', async (id) => {
    const { error, lines } = await run(await handlerOf({ id }), batch(...bodies))
    expect(error?.message).toBe(`${id} failed`)
    expect(lines.length).toBe(bodies.length)
    expect(lines.join()).not.toContain('CANARY')
  })

  it('makes sms-receipts fail, and is not logged', async () => {
    const handler = await handlerOf({ id: 'sms-receipts' })
    const zipped = (text: string) => gzipSync(text).toString('base64')
    for (const data of [CANARY, zipped(CANARY)]) {
      const { error, lines } = await run(handler, { awslogs: { data } })
      expect(error?.message).toBe('sms-receipts failed')
      expect(lines.join()).not.toContain('CANARY')
    }
    const logEvents = [{ timestamp: Date.now(), message: CANARY }]
    const { lines } = await run(handler, { awslogs: { data: zipped(JSON.stringify({ logEvents })) } })
    expect(lines.join()).toContain('receipt_unreadable')
    expect(lines.join()).not.toContain('CANARY')
  })
})
