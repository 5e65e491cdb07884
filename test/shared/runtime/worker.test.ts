import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { queueWorker, worker } from '../../../shared/runtime/worker.ts'
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

/** What a handler gives or throws, and what was logged meanwhile. */
async function run(handler: unknown, event: object) {
  const lines: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    lines.push(String(text))
    return true
  })
  try {
    const [answer, error] = await (handler as (event: object) => Promise<unknown>)(event).then(
      (given) => [given, undefined],
      (thrown) => [undefined, thrown],
    )
    return { answer, error: error as Error | undefined, lines }
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

describe('a queue’s worker', () => {
  const consumer = (each: Parameters<typeof queueWorker>[2]) =>
    queueWorker('consumer', {}, each as never) as unknown

  it('reports the messages that failed, and those alone', async () => {
    const handled: string[] = []
    const handler = consumer(async ({ body }) => {
      if (body.startsWith('bad')) throw new RangeError(body)
      handled.push(body)
    })
    const { answer, lines } = await run(handler, batch('good 1', 'bad 1', 'good 2', 'bad 2'))
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'id-1' }, { itemIdentifier: 'id-3' }] })
    expect(handled).toEqual(['good 1', 'good 2'])
    expect(parsed(lines)).toEqual([failure('consumer', 'RangeError'), failure('consumer', 'RangeError')])
  })

  it('reports nothing when all is well, and all when nothing is', async () => {
    expect(
      await run(
        consumer(async () => {}),
        batch('a', 'b'),
      ),
    ).toMatchObject({
      answer: { batchItemFailures: [] },
      lines: [],
    })
    const { answer } = await run(
      consumer(() => {
        throw new Error('at once')
      }),
      batch('a', 'b'),
    )
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'id-0' }, { itemIdentifier: 'id-1' }] })
  })

  it('takes a batch side by side', async () => {
    let under = 0
    const { promise: all, resolve } = Promise.withResolvers<void>()
    const handler = consumer(async () => {
      under += 1
      if (under === 3) resolve()
      await all
    })
    expect(await run(handler, batch('a', 'b', 'c'))).toMatchObject({ answer: { batchItemFailures: [] } })
  })

  it('tells which queue each came from', async () => {
    const seen: unknown[] = []
    const handler = consumer(async (message) => void seen.push(message))
    const queueArn = 'arn:aws:sqs:us-east-1:0:Slow'
    await run(handler, { Records: [{ messageId: 'x', body: 'c', eventSourceARN: queueArn }] })
    expect(seen).toEqual([{ body: 'c', queueArn }])
  })

  it.each<[string, (body: string) => unknown]>([
    ['an error’s message', (body) => new Error(`cannot send ${body}`)],
    ['a message of many lines', (body) => new Error(`cannot send:\n${body}\n    at ${body} (x.ts:1:1)\n`)],
    ['a cause', (body) => new Error('no', { cause: new Error(body) })],
    ['an error of JSON', (body) => JSON.parse(body)],
    ['a text that was thrown', (body) => body],
    ['an object that was thrown', (body) => ({ body })],
    ['an error with more in it', (body) => Object.assign(new Error('no'), { body, recipient: body })],
  ])('logs nothing of a body: not from %s', async (_, make) => {
    const handler = consumer(async ({ body }) => {
      throw make(body)
    })
    const { answer, lines } = await run(handler, batch(`${CANARY} +905321234567`))
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'id-0' }] })
    expect(lines.length).toBe(1)
    expect(lines.join()).not.toMatch(/CANARY|532|cannot send/)
  })
})

describe('a worker', () => {
  it('gives what its function gives, from stores that are opened once', async () => {
    let opened = 0
    const store = () => {
      opened += 1
      return { twice: (n: number) => 2 * n }
    }
    const handler = worker('doubler', { store }, async ({ n }: { n: number }, stores) =>
      stores.store.twice(n),
    )
    expect(await run(handler, { n: 2 })).toMatchObject({ answer: 4, lines: [] })
    expect(await run(handler, { n: 3 })).toMatchObject({ answer: 6 })
    expect(opened).toBe(1)
  })

  it('fails by its name alone: Lambda would log what an error says', async () => {
    const handler = worker('sweeper', {}, async () => {
      throw new TypeError(CANARY, { cause: new Error(CANARY) })
    })
    const { error, lines } = await run(handler, {})
    expect(error?.message).toBe('sweeper failed')
    expect(error?.cause).toBeUndefined()
    expect(error?.stack).not.toContain(CANARY)
    expect(parsed(lines)).toEqual([failure('sweeper', 'TypeError')])
    expect(lines.join()).not.toContain(CANARY)
  })

  it('says where it failed', async () => {
    const handler = worker('sweeper', {}, async () => {
      throw new Error('no')
    })
    const [line] = parsed((await run(handler, {})).lines)
    expect(line.origin.at[0]).toContain('worker.test.ts')
  })

  it('counts so that CloudWatch reads a metric, of what and not of whom', async () => {
    const handler = worker('sweeper', {}, async (_event, _stores, { count }) => count('email_queued_again'))
    expect(parsed((await run(handler, {})).lines)).toEqual([
      {
        _aws: {
          Timestamp: expect.any(Number),
          CloudWatchMetrics: [
            {
              Namespace: 'ClinicDeveloperApi',
              Dimensions: [[]],
              Metrics: [{ Name: 'email_queued_again', Unit: 'Count' }],
            },
          ],
        },
        email_queued_again: 1,
      },
    ])
  })
})

describe('what is no message of ours', () => {
  const bodies = [
    '',
    CANARY,
    `{"${CANARY}"`,
    JSON.stringify({ [CANARY]: CANARY }),
    JSON.stringify({ clinic: CANARY, message: CANARY, waits: CANARY }),
    JSON.stringify({ event: CANARY, clinic: [CANARY], detail: [CANARY] }),
  ]

  it.each(['send-email', 'email-feedback'])(
    'comes back to the dead letters of %s, unread by the log',
    async (id) => {
      const { answer, lines } = await run(await handlerOf({ id }), batch(...bodies))
      expect(answer).toEqual({ batchItemFailures: bodies.map((_, at) => ({ itemIdentifier: `id-${at}` })) })
      expect(lines.length).toBe(bodies.length)
      expect(lines.join()).not.toContain('CANARY')
    },
  )

  it('fails the receipts of SMS, unread by the log', async () => {
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
