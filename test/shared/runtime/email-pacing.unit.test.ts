import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type EmailConsumer, sendQueuedEmail } from '../../../shared/delivery/email/send-queued-email.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import type { Message } from '../../../shared/domain/messages/message.ts'
import { emailIntervalMs, pacing } from '../../../shared/runtime/messaging.ts'
import { sendEmailWorker } from '../../../shared/runtime/workers.ts'

beforeEach(() => void vi.useFakeTimers({ now: Date.parse('2026-05-04T07:00:00Z'), loopLimit: 1_000_000 }))
afterEach(() => void vi.useRealTimers())

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const paced = (intervalMs: number) => pacing({ intervalMs, now: Date.now, sleep })

describe('pacing', () => {
  it('begins work at intervals, without waiting for the work to end', async () => {
    const start = Date.now()
    const turn = paced(100)
    const begun: number[] = []
    const work = async () => {
      await turn()
      begun.push(Date.now() - start)
      await sleep(1000)
    }
    void Promise.all([work(), work(), work()])
    await vi.advanceTimersByTimeAsync(250)
    expect(begun).toEqual([0, 100, 200])
  })

  it('continues the interval with the next batch, and begins at once after a pause', async () => {
    const turn = paced(100)
    await turn()
    const next = turn()
    await vi.advanceTimersByTimeAsync(99)
    let begun = false
    void next.then(() => {
      begun = true
    })
    await vi.advanceTimersByTimeAsync(0)
    expect(begun).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(begun).toBe(true)
    await vi.advanceTimersByTimeAsync(500)
    const before = Date.now()
    await turn()
    expect(Date.now()).toBe(before)
  })
})

const CLINIC = '6d0e2a7c-0000-4000-8000-000000000001' as ClinicId
const EMAILS = 1000
const BATCH = 10

/** Numbers from 0 to 1, the same in every run. */
function randomNumbers(): () => number {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** SES with a rate: rejects a call if it accepted that many within the last second. */
function sesWithRate(perSecond: number, random: () => number) {
  const accepted: number[] = []
  const counts = { calls: 0, accepted: 0 }
  const send: EmailConsumer['sender']['send'] = async () => {
    counts.calls++
    const isOver = accepted.filter((at) => at > Date.now() - 1000).length >= perSecond
    if (!isOver) {
      accepted.push(Date.now())
      counts.accepted++
    }
    await sleep(40 + 80 * random())
    return isOver
      ? { kind: 'unavailable', reason: 'Throttling' }
      : { kind: 'accepted', providerMessageId: `ses-${counts.accepted}` }
  }
  return { send, counts }
}

/** Sends a thousand emails that became due at the same time, with as many consumers as the queue has. */
async function morning(perSecond: number, intervalMs: number) {
  const start = Date.now()
  const random = randomNumbers()
  const ses = sesWithRate(perSecond, random)
  const waiting = Array.from({ length: EMAILS }, (_, at) => ({ message: String(at), waits: 0, at: start }))
  const consumer: Omit<EmailConsumer, 'waitForTurn'> = {
    messages: {
      find: async (_, id) => {
        await sleep(5 + 10 * random())
        const acceptedAt = new Date(start).toISOString()
        const dispatch = { dueAt: start, claim: null, isUnresolved: false }
        const record = {
          id,
          channel: 'email',
          status: 'queued',
          recipient: 'a@b.example',
          acceptedAt,
          dispatch,
        }
        return { record: record as Message, version: 1, events: 0 }
      },
      claim: async () => true,
      recordFeedback: () => sleep(5 + 10 * random()),
      giveUp: async () => {},
      markUnresolved: async () => {},
      release: async () => {},
      postpone: async () => true,
    },
    mailSettings: async () => ({ name: 'Praxis Nord' }),
    sender: ses,
    queue: {
      push: async ({ message, waits }, seconds = 0) =>
        void waiting.push({ message, waits, at: Date.now() + seconds * 1000 }),
    },
    now: Date.now,
    random,
    newToken: () => 'token',
  }
  const consume = async () => {
    const turn = paced(intervalMs)
    while (ses.counts.accepted < EMAILS) {
      const due = waiting.filter(({ at }) => at <= Date.now()).slice(0, BATCH)
      for (const email of due) waiting.splice(waiting.indexOf(email), 1)
      await Promise.all(
        due.map(({ message, waits }) =>
          sendQueuedEmail({ ...consumer, waitForTurn: turn }, { clinic: CLINIC, message, waits }),
        ),
      )
      await sleep(20)
    }
  }
  const { maxConcurrency } = sendEmailWorker.trigger
  const done = Promise.all(Array.from({ length: maxConcurrency.emails }, consume))
  await vi.runAllTimersAsync()
  await done
  return { triesPerEmail: ses.counts.calls / EMAILS, seconds: (Date.now() - start) / 1000 }
}

describe('a thousand emails at the same time', () => {
  it.each([14, 50])('are tried at most 1.1 times each at a rate of %i a second', async (perSecond) => {
    const { triesPerEmail, seconds } = await morning(perSecond, emailIntervalMs(perSecond))
    expect(triesPerEmail).toBeLessThanOrEqual(1.1)
    // Most of the rate is used.
    expect(seconds).toBeLessThan((1.5 * EMAILS) / perSecond)
  })

  it('wait for no turn if they were sent already', async () => {
    const sent = { channel: 'email', status: 'sent', dispatch: null } as Message
    const messages = { find: async () => ({ record: sent, version: 1, events: 0 }) }
    const waitForTurn = async () => expect.unreachable()
    const consumer = { messages, mailSettings: async () => ({ name: '' }), waitForTurn }
    const email = { clinic: CLINIC, message: 'm', waits: 0 }
    await sendQueuedEmail(consumer as unknown as EmailConsumer, email)
  })

  it('are tried more often without pacing', async () => {
    expect((await morning(14, 0)).triesPerEmail).toBeGreaterThan(1.5)
  })
})
