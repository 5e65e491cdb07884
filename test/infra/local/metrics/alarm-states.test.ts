/** Each alarm on a metric of the service, with lines as functions write them. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type AlarmState, alarmStates } from '../../../../infra/local/metrics/alarm-states.ts'
import { type Alarm, alarmsOf } from '../../../../infra/local/metrics/alarms.ts'
import { recordMetrics } from '../../../../infra/local/metrics/recorded-metrics.ts'
import { resolveStacks } from '../../../../infra/local/template/stacks.ts'
import { ALARMS } from '../../../../infra/monitoring/alarm-table.ts'
import { counter, durationRecorder } from '../../../../shared/observability/metrics.ts'
import { templatesOf } from '../../../support/template.ts'

const NOW = Date.UTC(2026, 10, 1, 12)
const MINUTE = 60_000

let alarms: Alarm[]
beforeAll(() => {
  const stacks = Object.entries(templatesOf('dev')).map(([stackName, template]) => ({ stackName, template }))
  const context = { region: 'eu-central-1', queueUrl: (name: string) => name }
  alarms = alarmsOf(resolveStacks(stacks as never, context))
})

const own = ALARMS.flatMap((alarm) =>
  alarm.figure.of === 'service' ? [{ ...alarm, figure: alarm.figure }] : [],
)

/** Writes to the metrics as a function does at a time. */
function stack({ startedAt = NOW - 3 * 60 * MINUTE, queueFigure = 0 } = {}) {
  const metrics = recordMetrics()
  const writer = (at: number, stage = 'dev') => ({
    write: (line: object) => metrics.write(`${JSON.stringify(line)}\n`),
    now: () => at,
    stage,
  })
  return {
    count: (at: number, name: string, dimension = {}, stage = 'dev') =>
      counter(writer(at, stage))(name, dimension),
    recordMs: (at: number, name: string, ms: number, dimension = {}) =>
      durationRecorder(writer(at))(name, ms, dimension),
    states: () => {
      const sources = { metrics, queues: () => queueFigure, startedAt, now: NOW }
      return new Map(alarmStates(alarms, sources).map((state) => [state.name.replace(/^.*-dev-/, ''), state]))
    },
  }
}

/** Values of the figure in every period: over the threshold, or just not. */
function fill(id: string, isOver: boolean): AlarmState | undefined {
  const alarm = own.find((other) => other.id === id)
  if (!alarm) throw new Error(id)
  const { figure, above = 0, below = 0, minutes, periods = 1 } = alarm
  const { count, recordMs, states } = stack()
  for (let period = 0; period < periods; period++) {
    const at = NOW - period * minutes * MINUTE - MINUTE
    if (figure.statistic === 'Maximum')
      recordMs(at, figure.metric, above + (isOver ? 1 : 0), { sweep: 'sweep-events' })
    else if (figure.statistic === 'SampleCount')
      for (let n = 0; n < below - (isOver ? 1 : 0); n++) recordMs(at, figure.metric, 0, figure.dimensions)
    else for (let n = 0; n < above + (isOver ? 1 : 0); n++) count(at, figure.metric, { list: 'invoices' })
  }
  return states().get(id)
}

describe.each(own.map(({ id }) => [id]))('the alarm %s', (id) => {
  it('is on when its figure is over the threshold', () => {
    expect(fill(id, true)).toMatchObject({ state: 'ALARM' })
  })

  it('is off when its figure is at the threshold', () => {
    expect(fill(id, false)).toMatchObject({ state: 'OK' })
  })
})

it('is on for a sweep that records nothing, once its periods have passed', () => {
  expect(stack().states().get('sweep-events-stopped')).toMatchObject({ state: 'ALARM', figure: null })
  expect(
    stack({ startedAt: NOW - 9 * MINUTE })
      .states()
      .get('sweep-events-stopped'),
  ).toMatchObject({ state: 'OK' })
})

it('ignores metrics of other stages', () => {
  const { count, states } = stack()
  count(NOW - MINUTE, 'message_unresolved', {}, 'prod')
  expect(states().get('message-unresolved')).toMatchObject({ state: 'OK', figure: null })
})

it('calculates the share of failed deliveries from at least twenty attempts', () => {
  const attempts = (delivered: number, failed: number) => {
    const { count, states } = stack()
    for (let n = 0; n < delivered; n++) count(NOW - MINUTE, 'delivery_attempt', { outcome: 'delivered' })
    for (let n = 0; n < failed; n++) count(NOW - MINUTE, 'delivery_attempt', { outcome: 'rejected' })
    const { state, figure } = states().get('deliveries-failing') ?? {}
    return [state, figure]
  }
  expect(attempts(0, 20)).toEqual(['ALARM', 100])
  expect(attempts(0, 19)).toEqual(['OK', 0])
  expect(attempts(10, 10)).toEqual(['OK', 50])
  expect(attempts(0, 0)).toEqual(['OK', null])
})

it('is not played for a metric that only AWS has', () => {
  expect(stack().states().get('api-errors')).toMatchObject({ state: 'NOT_PLAYED', figure: null })
})
