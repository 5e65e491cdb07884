import { sendToQueue } from '../engines/queues.ts'
import { type FunctionPool, invokeAsync } from '../functions/pool.ts'
import { type BusEvent, newEvent } from './bus-event.ts'
import { matches } from './event-pattern.ts'
import type { Rule, Target } from './event-rules.ts'
import { renderInput } from './target-input.ts'

type Options = {
  readonly rules: readonly Rule[]
  /** The endpoint of SQS. */
  readonly endpoint: string
  readonly region: string
  readonly getPool: (arn: string) => FunctionPool
  readonly log: (line: string) => void
}

/** Starts EventBridge's default bus with the template's rules. */
export function startEventBus({ rules, endpoint, region, getPool, log }: Options) {
  let stopped = false

  const deliver = async (rule: Rule, event: BusEvent): Promise<void> => {
    const sendToTarget = async (target: Target): Promise<void> => {
      const input = renderInput(target.input, event)
      if (target.kind === 'queue') await sendToQueue(endpoint, target.arn, { MessageBody: input })
      else await invokeAsync(getPool(target.arn), input, log)
    }
    const outcomes = await Promise.allSettled(rule.targets.map(sendToTarget))
    for (const outcome of outcomes)
      if (outcome.status === 'rejected' && !stopped) log(`${rule.id}: ${(outcome.reason as Error).message}`)
  }

  const timers = rules.flatMap((rule) =>
    rule.everyMs === undefined
      ? []
      : [setInterval(() => deliver(rule, scheduledEvent(rule, region)), rule.everyMs).unref()],
  )
  return {
    /** Delivers an event to the rules that match it. Never rejects: errors are logged. */
    put: async (event: BusEvent): Promise<void> => {
      const matched = rules.filter(({ pattern }) => !stopped && pattern && matches(pattern, event))
      await Promise.all(matched.map((rule) => deliver(rule, event)))
    },
    stop: () => {
      stopped = true
      for (const timer of timers) clearInterval(timer)
    },
  }
}

const scheduledEvent = ({ arn }: Rule, region: string): BusEvent =>
  newEvent(region, {
    source: 'aws.events',
    'detail-type': 'Scheduled Event',
    resources: [arn],
    detail: {},
  })
