import { brokenBounds } from './bounds.ts'
import type { EmailOutcome } from './emails.ts'
import { type CostLine, costsOfDelivery, PRICES_AS_OF } from './prices.ts'
import type { Simulation } from './simulate.ts'

export type Line = { readonly name: string; readonly simulation: Simulation }
export type EmailLine = { readonly perSecond: number; readonly outcome: EmailOutcome }

const whole = (value: number): string => Math.round(value).toLocaleString('en')
const fixed = (value: number): string =>
  value.toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
const seconds = (ms: number): string => fixed(ms / 1000)
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** The retries of which the simulation has enough to report. */
const RETRIES = [1, 2, 3, 4, 5]

const INTRODUCTION = [
  '## Ten thousand clinics',
  '',
  'Written by `npm run bench -- --fleet`. It is a simulation, not AWS: the consumer of the delivery queues and the sweep are those of',
  'the project, with simulated time, queues, receivers and a table in memory. A read takes 5 ms, a single write 8 ms, a transaction',
  '18 ms, each with 30 % jitter; a message takes 28 ms, the stream and the fan-out 250 ms. Nothing is throttled, and no function',
  'starts cold or runs out of CPU. The same seed has the same result.',
  '',
  'A cell is one deployment. Cells share nothing, so two cells of 5,000 clinics are one simulated cell of 500 deliveries a second, and',
  'twenty cells at ten times the load are the same with another seed. Endpoints respond within 40 to 120 ms, 1 % of first attempts',
  'and 20 % of retries fail. After a minute, the given share of them hangs, and then responds again. The others are innocent;',
  'their attempts must not be late: first attempts by at most 5 s, retries by at most 10 s (p99).',
  '',
]

/** The section of docs/benchmarks.md. */
export const fleetSection = (
  lines: readonly Line[],
  emails: readonly EmailLine[],
  costs: readonly CostLine[],
): string =>
  [
    ...INTRODUCTION,
    'Lateness of innocent endpoints in seconds: p50 / p99 / slowest of first attempts, from the change of the record on; p99 / slowest',
    'of each retry, from when it is due. The sweep queues retries from the third on.',
    '',
    `| | first attempts | ${RETRIES.map((number) => `retry ${number}`).join(' | ')} | exceeded |`,
    `|---|---:|${RETRIES.map(() => '---:|').join('')}---|`,
    ...lines.map(latenessRow),
    '',
    'Messages that could be received, at most and at the end of the time in which receivers hang; invocations of the slow lane;',
    'deliveries that wait for the receivers that hang, at that time, and the seconds that 99 % of them took after the recovery, with',
    'the number of those that a later event of their record overtook; items that a sweep found overdue, the age of the oldest, and',
    'the longest sweep. A receiver that fails its first attempt after the recovery is tried again five minutes later, so the last',
    'one in a hundred takes longer.',
    '',
    '| | quick queue | slow queue | busy, mean | waiting | gone after, s | overtaken | overdue | lag, s | sweep, s |',
    '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|',
    ...lines.map(queueRow),
    '',
    'Attempts a second of the whole cell; and what a delivery takes, with its share of the fan-out:',
    '',
    '| | attempts a second | write units | read units | calls of the table | messages | invocations |',
    '|---|---:|---:|---:|---:|---:|---:|',
    ...lines.map(deliveryRow),
    '',
    ...emailLines(emails),
    ...costLines(costs),
  ].join('\n')

function latenessRow({ name, simulation }: Line): string {
  const { firstAttempts, retries } = simulation.observed
  const first = firstAttempts.distribution()
  const late = RETRIES.map((number) => {
    const { p99 = 0, max = 0, count = 0 } = retries.get(number)?.distribution() ?? {}
    return count === 0 ? 'none' : `${seconds(p99)} / ${seconds(max)}`
  })
  const exceeded = brokenBounds(simulation).join(', ') || 'nothing'
  return row([name, [first.p50, first.p99, first.max].map(seconds).join(' / '), ...late, exceeded])
}

function queueRow({ name, simulation }: Line): string {
  const { scenario, observed, atRecovery } = simulation
  const { quickVisible, slowVisible, slowBusy, dueItems, sweepLagMs, sweepMs } = observed.gauges
  const hangingEnd = (scenario.healthyMs + scenario.hangingMs) / 1000
  const size = (gauge: typeof quickVisible): string => `${whole(gauge.max())}, ${whole(gauge.at(hangingEnd))}`
  const backlog = atRecovery.all - atRecovery.innocent
  const gone = observed.drained[Math.ceil(0.99 * backlog) - 1]
  return row([
    name,
    size(quickVisible),
    size(slowVisible),
    fixed(slowBusy.mean(scenario.healthyMs / 1000, hangingEnd)),
    whole(backlog),
    gone === undefined ? `over ${whole(scenario.recoveryMs / 1000)}` : whole(gone / 1000),
    whole(observed.counts.overtaken),
    whole(dueItems.max()),
    seconds(sweepLagMs.max()),
    seconds(sweepMs.max()),
  ])
}

function deliveryRow({ name, simulation }: Line): string {
  const { writeUnits, readUnits, calls, messages, invocations } = costsOfDelivery(simulation)
  const { healthyMs, hangingMs, recoveryMs } = simulation.scenario
  const attempts = simulation.observed.counts.attempts / ((healthyMs + hangingMs + recoveryMs) / 1000)
  return row([name, whole(attempts), ...[writeUnits, readUnits, calls, messages, invocations].map(fixed)])
}

const emailLines = (lines: readonly EmailLine[]): string[] => [
  '360,000 emails that are accepted at nine, by the rate of SES:',
  '',
  '| emails a second | hours until all are sent | hours until the queue is empty | messages for each email | sends |',
  '|---:|---:|---:|---:|---:|',
  ...lines.map(({ perSecond, outcome }) =>
    row([
      whole(perSecond),
      ...[
        outcome.hoursUntilSent,
        outcome.hoursUntilEmpty,
        outcome.messagesPerEmail,
        outcome.sendsPerEmail,
      ].map(fixed),
    ]),
  ),
  '',
]

const costLines = (lines: readonly CostLine[]): string[] => [
  `A month of ten thousand clinics at list prices of us-east-1 (${PRICES_AS_OF}, to be checked), without SMS, logs, data transfer and free`,
  'tiers: 1,000 requests a second of which half write, 500 events and 1,000 deliveries a second, 360,000 emails a day.',
  '',
  '| service | quantity | US dollars a month |',
  '|---|---:|---:|',
  ...lines.map(({ service, quantity, dollars }) => row([service, quantity, whole(dollars)])),
  row(['all', '', whole(lines.reduce((sum, { dollars }) => sum + dollars, 0))]),
  '',
]
