import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { queueUrl } from '../../../../infra/local/engines/queues.ts'
import { newEvent } from '../../../../infra/local/events/bus-event.ts'
import { startEventBus } from '../../../../infra/local/events/event-bus.ts'
import { eventRules } from '../../../../infra/local/events/event-rules.ts'
import { resolveTemplate } from '../../../../infra/local/template/template.ts'
import { functionThat } from './recording-function.ts'

const REGION = 'eu-central-1'
const QUEUE = { 'Fn::GetAtt': ['Queue', 'Arn'] }
const FUNCTION = { 'Fn::GetAtt': ['Function', 'Arn'] }
const BOUNCED = newEvent(REGION, {
  source: 'aws.ses',
  'detail-type': 'Email Bounced',
  detail: { mail: { tags: { message: ['m-1'] } } },
})
const PATTERN = { source: ['aws.ses'] }

const templateOf = (rules: Record<string, object>, endpoint = 'http://127.0.0.1:1') =>
  resolveTemplate(
    {
      Resources: {
        Queue: { Type: 'AWS::SQS::Queue' },
        Function: { Type: 'AWS::Lambda::Function' },
        ...Object.fromEntries(
          Object.entries(rules).map(([id, Properties]) => [
            id,
            { Type: 'AWS::Events::Rule', Properties: { ...Properties } },
          ]),
        ),
      },
    },
    { region: REGION, stackName: 'Test', queueUrl: (name) => queueUrl(endpoint, name) },
  )

/** A bus with the given rules, a function that records its events and returns `diagnostics`. */
function busOf(rules: Record<string, object>, diagnostics: string[] = [], endpoint?: string) {
  const template = templateOf(rules, endpoint)
  const { pool, events } = functionThat<unknown>(() => null, diagnostics)
  const lines: string[] = []
  const asked: string[] = []
  const bus = startEventBus({
    rules: eventRules(template),
    endpoint: endpoint ?? 'http://127.0.0.1:1',
    region: REGION,
    getPool: (arn) => {
      asked.push(arn)
      return pool
    },
    log: (line) => lines.push(line),
  })
  onTestFinished(() => bus.stop())
  return { bus, template, events, lines, asked }
}

describe('an event', () => {
  it('invokes the functions of matching rules', async () => {
    const { bus, events, asked, template } = busOf({
      Bounces: { EventPattern: { 'detail-type': ['Email Bounced'] }, Targets: [{ Id: 'a', Arn: FUNCTION }] },
      Mails: {
        EventPattern: PATTERN,
        Targets: [{ Id: 'b', Arn: FUNCTION, Input: '{"n":1}' }],
      },
      Others: { EventPattern: { source: ['aws.s3'] }, Targets: [{ Id: 'c', Arn: FUNCTION }] },
    })
    await bus.put(BOUNCED)
    expect(events).toEqual([BOUNCED, { n: 1 }])
    expect(new Set(asked)).toEqual(new Set([template.attribute('Function', 'Arn')]))
  })

  it('reaches its other targets when one fails, and the failure is logged', async () => {
    const InputTransformer = { InputTemplate: '{' }
    const { bus, events, lines } = busOf(
      {
        Rule: {
          EventPattern: PATTERN,
          Targets: [
            { Id: 'a', Arn: QUEUE },
            { Id: 'b', Arn: FUNCTION, InputTransformer },
            { Id: 'c', Arn: FUNCTION },
          ],
        },
      },
      ['Error: x'],
    )
    await bus.put(BOUNCED)
    expect(events).toEqual([BOUNCED])
    expect(lines.toSorted()).toEqual([
      'Function: Error: x',
      'Rule: fetch failed',
      'Rule: its input transformer does not produce JSON',
    ])
  })

  it('matches no disabled rule, and no rule of a stopped bus', async () => {
    const rule = { EventPattern: PATTERN, Targets: [{ Id: 'a', Arn: FUNCTION }] }
    const { bus, events } = busOf({ On: rule, Off: { ...rule, State: 'DISABLED' } })
    await bus.put(BOUNCED)
    expect(events.length).toBe(1)
    bus.stop()
    await bus.put(BOUNCED)
    expect(events.length).toBe(1)
  })
})

describe('a schedule', () => {
  afterEach(() => void vi.useRealTimers())

  it.each([
    ['rate(1 minute)', 60_000],
    ['rate(5 minutes)', 300_000],
  ])('of %s invokes its function every %i ms', (ScheduleExpression, interval) => {
    vi.useFakeTimers()
    const { bus, events } = busOf({ Sweep: { ScheduleExpression, Targets: [{ Id: 'a', Arn: FUNCTION }] } })
    vi.advanceTimersByTime(interval - 1)
    expect(events.length).toBe(0)
    vi.advanceTimersByTime(1)
    expect(events.length).toBe(1)
    vi.advanceTimersByTime(interval)
    expect(events.length).toBe(2)
    bus.stop()
    vi.advanceTimersByTime(2 * interval)
    expect(events.length).toBe(2)
  })

  it('sends an event in the format of EventBridge', () => {
    vi.useFakeTimers({ now: Date.parse('2026-01-02T03:04:05.678Z') })
    const Targets = [{ Id: 'a', Arn: FUNCTION }]
    const { events } = busOf({ Sweep: { ScheduleExpression: 'rate(1 minute)', Targets } })
    vi.advanceTimersByTime(60_000)
    const id = expect.stringMatching(/^[0-9a-f-]{36}$/)
    const resources = ['arn:aws:events:eu-central-1:000000000000:rule/Test-Sweep']
    const source = { 'detail-type': 'Scheduled Event', source: 'aws.events', resources, detail: {} }
    const where = { account: '000000000000', region: REGION, time: '2026-01-02T03:05:05Z' }
    expect(events).toEqual([{ version: '0', id, ...source, ...where }])
  })
})

describe('a rule', () => {
  const BRACKETS = { InputPathsMap: { a: '$.detail["a"]' }, InputTemplate: '<a>' }
  const Targets = [{ Id: 'a', Arn: FUNCTION }]
  const to = (target: object) => ({ EventPattern: PATTERN, Targets: [{ Id: 'a', ...target }] })

  it.each([
    ['a cron schedule', { ScheduleExpression: 'cron(0 12 * * ? *)', Targets }, /Odd has the schedule cron/],
    ['a rate of days', { ScheduleExpression: 'rate(1 day)', Targets }, /Odd has the schedule rate\(1 day\)/],
    ['a rate too long', { ScheduleExpression: 'rate(60000 minutes)', Targets }, /Odd has the schedule/],
    ['neither schedule nor pattern', { Targets }, /Odd has neither a schedule nor a pattern/],
    ['a bus of its own', { EventPattern: PATTERN, EventBusName: 'mine', Targets }, /Odd is on the bus mine/],
    ['a comparison', { EventPattern: { n: [{ numeric: ['>', 1] }] }, Targets }, /Odd matches n by/],
    [
      'a state machine as its target',
      to({ Arn: 'arn:aws:states:x:0:stateMachine:s' }),
      /Odd calls arn:aws:states:.*:s; .* functions and SQS queues only/,
    ],
    ['another queue', to({ Arn: 'arn:aws:sqs:x:0:q' }), /Odd calls arn:aws:sqs:x:0:q, .* not a queue/],
    ['other parameters', to({ Arn: QUEUE, EcsParameters: {} }), /Odd has a target with EcsParameters/],
    ['a path in brackets', to({ Arn: QUEUE, InputTransformer: BRACKETS }), /Odd reads \$\.detail\["a"\]/],
  ])('is rejected with %s', (_what, rule, message) => {
    expect(() => eventRules(templateOf({ Odd: rule }))).toThrow(message)
  })

  it('that notifies operators only is left out', () => {
    const rule = { EventPattern: PATTERN, Targets: [{ Id: 'a', Arn: 'arn:aws:sns:x:0:t' }] }
    expect(eventRules(templateOf({ Notice: rule }))).toEqual([])
  })

  it('may have properties that matter on AWS only', () => {
    const target = { Id: 'a', Arn: QUEUE, RetryPolicy: {}, DeadLetterConfig: { Arn: QUEUE } }
    const EventBusName = 'arn:aws:events:x:0:event-bus/default'
    const rules = eventRules(templateOf({ Rule: { EventPattern: PATTERN, EventBusName, Targets: [target] } }))
    expect(rules).toMatchObject([{ id: 'Rule', targets: [{ kind: 'queue', input: {} }] }])
  })
})
