import type { ResolvedTemplate } from '../template/template.ts'
import { checkPattern, type EventPattern } from './event-pattern.ts'
import { checkInput, type TargetInput } from './target-input.ts'

type RuleProperties = {
  readonly State?: string
  readonly EventBusName?: string
  readonly ScheduleExpression?: string
  readonly EventPattern?: EventPattern
  readonly Targets?: readonly TargetProperties[]
}

type TargetProperties = TargetInput & {
  readonly Id: string
  readonly Arn: string
}

/** A rule of the default bus. */
export type Rule = {
  readonly id: string
  readonly arn: string
  readonly everyMs?: number
  readonly pattern?: EventPattern
  readonly targets: readonly Target[]
}

export type Target = {
  readonly kind: 'function' | 'queue'
  readonly arn: string
  readonly input: TargetInput
}

/** Supported properties of targets. Retries and dead letters are ignored, since local deliveries are not lost. */
const TARGET_PROPERTIES = new Set([
  'Arn',
  'DeadLetterConfig',
  'Id',
  'Input',
  'InputTransformer',
  'RetryPolicy',
  'RoleArn',
])

/** @throws Error that names an unsupported rule */
export function eventRules(template: ResolvedTemplate): Rule[] {
  const queues = new Set(
    template.resourcesOf('AWS::SQS::Queue').map(({ id }) => template.attribute(id, 'Arn')),
  )
  return template
    .resourcesOf<RuleProperties>('AWS::Events::Rule')
    .filter(({ properties }) => properties.State !== 'DISABLED' && !isNotice(properties))
    .map(({ id, properties }) => {
      const { EventBusName = 'default', ScheduleExpression, EventPattern, Targets = [] } = properties
      if (EventBusName !== 'default' && !EventBusName.endsWith(':event-bus/default'))
        throw new Error(`${id} is on the bus ${EventBusName}; the local stack supports the default bus only.`)
      if (!ScheduleExpression && !EventPattern) throw new Error(`${id} has neither a schedule nor a pattern.`)
      if (EventPattern) checkPattern(EventPattern, id)
      return {
        id,
        arn: template.attribute(id, 'Arn'),
        ...(ScheduleExpression && { everyMs: intervalOf(ScheduleExpression, id) }),
        ...(EventPattern && { pattern: EventPattern }),
        targets: Targets.map((target) => targetOf(target, id, queues)),
      }
    })
}

/** Notifications of operators, like alarms, are not emulated. */
const isNotice = ({ Targets = [] }: RuleProperties): boolean =>
  Targets.length > 0 && Targets.every(({ Arn }) => Arn.startsWith('arn:aws:sns:'))

function targetOf(target: TargetProperties, id: string, queues: ReadonlySet<string>): Target {
  const { Arn, Input, InputTransformer } = target
  const unknownProperty = Object.keys(target).find((name) => !TARGET_PROPERTIES.has(name))
  if (unknownProperty)
    throw new Error(`${id} has a target with ${unknownProperty}, which the local event bus does not support.`)
  const kind = kindOf(Arn)
  if (!kind)
    throw new Error(`${id} calls ${Arn}; the local event bus supports functions and SQS queues only.`)
  if (kind === 'queue' && !queues.has(Arn))
    throw new Error(`${id} calls ${Arn}, which is not a queue of the stack.`)
  const input: TargetInput = {
    ...(Input !== undefined && { Input }),
    ...(InputTransformer && { InputTransformer }),
  }
  checkInput(input, id)
  return { kind, arn: Arn, input }
}

const kindOf = (arn: string): Target['kind'] | undefined =>
  arn.startsWith('arn:aws:sqs:') ? 'queue' : arn.startsWith('arn:aws:lambda:') ? 'function' : undefined

/** A longer interval would overflow Node's timer. */
function intervalOf(expression: string, id: string): number {
  const [, minutes] = /^rate\(([1-9]\d{0,3}) minutes?\)$/.exec(expression) ?? []
  if (minutes === undefined)
    throw new Error(
      `${id} has the schedule ${expression}; the local event bus supports rates of minutes only.`,
    )
  return Number(minutes) * 60_000
}
