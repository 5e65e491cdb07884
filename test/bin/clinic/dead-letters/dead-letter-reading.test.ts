/** Reading dead letters: they are given back, one of them can be taken, and nothing but ids, times and counts is shown. */
import type { Message as DeadLetter, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { deadLetterJson } from '../../../../bin/clinic/dead-letters/dead-letter-json.ts'
import {
  countDeadLetters,
  deadLetterId,
  deleteDeadLetters,
  giveBack,
  readDeadLetters,
  takeDeadLetter,
} from '../../../../bin/clinic/dead-letters/dead-letters.ts'
import { callSqs, type QueueEngine, queueUrl, startQueues } from '../../../../infra/local/engines/queues.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { deployedStack } from '../../../support/deployed-stack.ts'
import { queueClient } from '../../../support/queue-client.ts'

describe('on the engine', () => {
  let engine: QueueEngine
  let client: SQSClient
  let url: string
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
    const QueueName = `dead-${made++}`
    await callSqs(engine.endpoint, 'CreateQueue', { QueueName })
    url = queueUrl(engine.endpoint, QueueName)
    for (let at = 0; at < 12; at++)
      await callSqs(engine.endpoint, 'SendMessage', { QueueUrl: url, MessageBody: `${at}` })
  })

  /** The bodies of the dead letters that can be received now. */
  async function visible(): Promise<number[]> {
    const bodies: number[] = []
    for (;;) {
      const input = { QueueUrl: url, MaxNumberOfMessages: 10 }
      const { Messages = [] } = await callSqs<{ Messages?: { Body: string }[] }>(
        engine.endpoint,
        'ReceiveMessage',
        input,
      )
      if (Messages.length === 0) return bodies.sort((a, b) => a - b)
      bodies.push(...Messages.map(({ Body }) => Number(Body)))
    }
  }
  const all = Array.from({ length: 12 }, (_, at) => at)

  it('reads all of more dead letters than one call returns, and returns each', async () => {
    const letters = await readDeadLetters(client, url, 100)
    expect(letters.map(({ Body }) => Number(Body)).sort((a, b) => a - b)).toEqual(all)
    expect(await visible()).toEqual(all)
  })

  it('reads no more than asked for, and counts those that are being read', async () => {
    expect((await readDeadLetters(client, url, 3)).length).toBe(3)
    expect(await visible()).toEqual(all)
    expect(await countDeadLetters(client, url)).toBe(12)
  })

  it('takes one dead letter, which others do not see until it is returned, and leaves the rest', async () => {
    const [, wanted] = await readDeadLetters(client, url, 2)
    const letter = await takeDeadLetter(client, url, deadLetterId(wanted ?? {}))
    expect(letter?.Body).toBe(wanted?.Body)
    expect(await visible()).toEqual(all.filter((at) => String(at) !== wanted?.Body))
    await giveBack(client, url, letter ? [letter] : [])
    expect(await visible()).toEqual([Number(wanted?.Body)])
  })

  it('leaves a dead letter to others while the operator is asked, and says if one of them discarded it', async () => {
    const outputs = { OperatorLogGroup: 'operator-group', FailedFanOutQueueUrl: url }
    const { runAsked } = await deployedStack(outputs)
    vi.stubEnv('AWS_ENDPOINT_URL_SQS', engine.endpoint)
    const letters = await readDeadLetters(client, url, 12)
    const discard = (letter: DeadLetter | undefined, meanwhile: () => Promise<unknown> = async () => {}) =>
      runAsked(
        async () => {
          await meanwhile()
          return 'yes'
        },
        ...['dead-letter', 'delete', deadLetterId(letter ?? {}), '--queue', 'failed-fan-outs'],
      )
    const [gone, kept] = letters
    const outcome = await discard(gone, async () => {
      const taken = await takeDeadLetter(client, url, deadLetterId(gone ?? {}))
      await deleteDeadLetters(client, url, taken ? [taken] : [])
    })
    expect([outcome.code, outcome.errors]).toEqual([2, expect.stringContaining('There is no dead letter')])
    expect((await discard(kept)).code).toBe(0)
    const left = await visible()
    expect(left).toEqual(all.filter((at) => ![gone?.Body, kept?.Body].includes(String(at))))
  })

  it('takes nothing for an unknown id, and returns all', async () => {
    expect(await takeDeadLetter(client, url, newUuid())).toBeUndefined()
    expect(await visible()).toEqual(all)
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

  it.each([
    ['an email', { clinic, message, waits: 2 }, { clinic_id: clinic, message_id: message, waits: 2 }],
    ['a delivery', { clinic, webhook, delivery }, { webhook_id: webhook, delivery_id: delivery }],
    [
      'feedback of SES',
      {
        event: 'Bounce',
        clinic: [clinic],
        message: [message],
        at: '2026-11-22T10:00:00Z',
        detail: ['canary'],
      },
      { clinic_id: clinic, message_id: message, event: 'Bounce', at: '2026-11-22T10:00:00Z' },
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
