import { callSqs, queueUrl } from '../engines/queues.ts'
import { invokeAsync } from '../functions/async-invoke.ts'
import type { FunctionPool } from '../functions/pool.ts'
import { type BusEvent, newEvent } from './bus-event.ts'
import { matches } from './event-pattern.ts'
import type { Rule, Target } from './event-rules.ts'
import { renderInput } from './target-input.ts'

type Options = {
  readonly rules: readonly Rule[]
  /** Of SQS. */
  readonly endpoint: string
  readonly region: string
  readonly getPool: (arn: string) => FunctionPool
  readonly log: (line: string) => void
}

export type EventBus = {
  readonly version: string
  /** Never rejects. Gives the rules that it matched, after their targets have had it. */
  readonly put: (event: BusEvent) => Promise<string[]>
  readonly stop: () => void
}

/** EventBridge's default bus for the template's rules. Goes on with the running one where nothing has changed. */
export function startEventBus(options: Options, running?: EventBus): EventBus {
  const { rules, region, getPool: functionOf, log } = options
  const version = JSON.stringify(rules)
  if (running?.version === version) return running
  running?.stop()
  let stopped = false

  const deliver = async (rule: Rule, event: BusEvent): Promise<void> => {
    const sendToTarget = async (target: Target): Promise<void> => {
      const input = renderInput(target.input, event)
      if (target.kind === 'queue') await sendToQueue(target, input, options.endpoint)
      else await invokeAsync(functionOf(target.arn), input, log)
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
    version,
    put: async (event) => {
      const matched = rules.filter(({ pattern }) => !stopped && pattern && matches(pattern, event))
      await Promise.all(matched.map((rule) => deliver(rule, event)))
      return matched.map(({ id }) => id)
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

const sendToQueue = (
  { arn, messageGroup }: Target,
  MessageBody: string,
  endpoint: string,
): Promise<unknown> =>
  callSqs(endpoint, 'SendMessage', {
    QueueUrl: queueUrl(endpoint, arn.split(':').at(-1) ?? ''),
    MessageBody,
    ...(messageGroup !== undefined && { MessageGroupId: messageGroup }),
  })
