import { setTimeout as sleep } from 'node:timers/promises'
import type { EmailEvent } from './email-events.ts'
import type { SmsReceipt } from './sms-receipts.ts'

/** Receives the feedback on messages. */
export type FeedbackListener = {
  readonly email: (event: EmailEvent) => Promise<unknown>
  readonly sms: (receipt: SmsReceipt) => Promise<unknown>
}

/** Delays in milliseconds. */
export type FeedbackDelays = {
  /** The time from the acceptance of an email to its first event, and between its events. */
  readonly email: number
  readonly nextEmail: number
  /** The time from the acceptance of an SMS to its receipt. */
  readonly sms: number
}

const DELAYS: FeedbackDelays = { email: 300, nextEmail: 200, sms: 500 }

export type Feedback = ReturnType<typeof delayedFeedback>

type Step = { readonly delayMs: number; readonly run: () => Promise<unknown> }

/** The feedback that providers report on accepted messages, delayed and in order. */
export function delayedFeedback(log: (line: string) => void, overrides: Partial<FeedbackDelays> = {}) {
  const delays = { ...DELAYS, ...overrides }
  const stopped = new AbortController()
  const pending = new Set<Promise<void>>()
  let listener: FeedbackListener | undefined

  const runSteps = async (steps: readonly Step[]): Promise<void> => {
    for (const { delayMs, run } of steps) {
      try {
        await sleep(delayMs, undefined, { signal: stopped.signal, ref: false })
      } catch {
        return // stopped
      }
      await run().catch((error: Error) => log(`Feedback was lost: ${error.message}`))
    }
  }
  const start = (steps: readonly Step[]): void => {
    const running = runSteps(steps).finally(() => pending.delete(running))
    pending.add(running)
  }

  return {
    /** Sets the listener. Feedback is dropped before the first call. */
    setListener: (next: FeedbackListener) => {
      listener = next
    },
    /** Events are created when they happen, since they contain the time. */
    email: (eventFactories: readonly (() => EmailEvent)[]) =>
      start(
        eventFactories.map((createEvent, index) => ({
          delayMs: index === 0 ? delays.email : delays.nextEmail,
          run: async () => listener?.email(createEvent()),
        })),
      ),
    sms: (receipt: () => SmsReceipt) =>
      start([{ delayMs: delays.sms, run: async () => listener?.sms(receipt()) }]),
    stop: async () => {
      stopped.abort()
      await Promise.all(pending)
    },
  }
}
