import { setTimeout as sleep } from 'node:timers/promises'
import type { EmailEvent } from './email-events.ts'
import type { SmsReceipt } from './sms-receipts.ts'

/** Who hears of what became of messages. */
export type FeedbackListener = {
  readonly email: (event: EmailEvent) => Promise<unknown>
  readonly sms: (receipt: SmsReceipt) => Promise<unknown>
}

/** In milliseconds. */
export type FeedbackDelays = {
  /** From the acceptance of a mail to its first event, and from one of its events to the next. */
  readonly email: number
  readonly nextEmail: number
  /** From the acceptance of an SMS to its receipt. */
  readonly sms: number
}

const DELAYS: FeedbackDelays = { email: 300, nextEmail: 200, sms: 500 }

export type Feedback = {
  /** From now on; before the first call nobody hears of anything. */
  readonly setListener: (listener: FeedbackListener) => void
  /** What is made only when it happens, as its times tell. */
  readonly email: (eventFactories: readonly (() => EmailEvent)[]) => void
  readonly sms: (receipt: () => SmsReceipt) => void
  readonly stop: () => Promise<void>
}

type Step = { readonly delayMs: number; readonly run: () => Promise<unknown> }

/** What providers tell of a message after they took it: later, and one thing after the other. */
export function delayedFeedback(
  log: (line: string) => void,
  overrides: Partial<FeedbackDelays> = {},
): Feedback {
  const delays = { ...DELAYS, ...overrides }
  const stopped = new AbortController()
  const pending = new Set<Promise<void>>()
  let listener: FeedbackListener | undefined

  const runSteps = async (steps: readonly Step[]): Promise<void> => {
    for (const { delayMs: after, run: happen } of steps) {
      try {
        await sleep(after, undefined, { signal: stopped.signal, ref: false })
      } catch {
        return // stopped
      }
      await happen().catch((error: Error) => log(`Feedback is lost: ${error.message}`))
    }
  }
  const start = (steps: readonly Step[]): void => {
    const running = runSteps(steps).finally(() => pending.delete(running))
    pending.add(running)
  }

  return {
    setListener: (next) => {
      listener = next
    },
    email: (eventFactories) =>
      start(
        eventFactories.map((createEvent, index) => ({
          delayMs: index === 0 ? delays.email : delays.nextEmail,
          run: async () => listener?.email(createEvent()),
        })),
      ),
    sms: (receipt) => start([{ delayMs: delays.sms, run: async () => listener?.sms(receipt()) }]),
    stop: async () => {
      stopped.abort()
      await Promise.all(pending)
    },
  }
}
