import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type EmailConsumer, sendQueuedEmail } from '../../../shared/delivery/email/send-queued-email.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import type { Message } from '../../../shared/domain/messages/message.ts'
import { emailIntervalMs, pacing } from '../../../shared/runtime/messaging.ts'
import { sendEmailWorker } from '../../../shared/runtime/workers.ts'

beforeEach(() => void vi.useFakeTimers({ now: Date.parse('2026-05-04T07:00:00Z') }))
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

describe('sending a queued email', () => {
  /** The record of the email, and the steps that its consumer takes. */
  async function stepsOf(state: Pick<Message, 'status' | 'dispatch'>): Promise<string[]> {
    const steps: string[] = []
    const record = { channel: 'email', acceptedAt: new Date().toISOString(), ...state } as Message
    const messages = {
      find: async () => ({ record, version: 1, events: 0 }),
      claim: async () => !steps.push('claim'),
    }
    const consumer = {
      messages,
      mailSettings: async () => ({ name: '' }),
      waitForTurn: async () => void steps.push('turn'),
      queue: { push: async () => {} },
      now: Date.now,
      newToken: () => 'token',
    }
    const email = { clinic: '6d0e2a7c-0000-4000-8000-000000000001' as ClinicId, message: 'm', waits: 0 }
    await sendQueuedEmail(consumer as unknown as EmailConsumer, email)
    return steps
  }

  it('waits for its turn before the claim', async () => {
    const dispatch = { dueAt: Date.now(), claim: null, isUnresolved: false }
    expect(await stepsOf({ status: 'queued', dispatch })).toEqual(['turn', 'claim'])
  })

  it('waits for no turn if it was sent already', async () => {
    expect(await stepsOf({ status: 'sent', dispatch: null })).toEqual([])
  })
})

it.each([14, 50])('all consumers together begin %i emails a second', (perSecond) => {
  const { maxConcurrency } = sendEmailWorker.trigger
  expect((maxConcurrency.emails * 1000) / emailIntervalMs(perSecond)).toBeCloseTo(perSecond)
})
