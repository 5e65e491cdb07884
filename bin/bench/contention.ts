/** `npm run bench -- --contention`: what one clinic's writers get when many of them want the same items. */
import type { Table } from '../../shared/store/table/table.ts'
import {
  booking,
  type Contention,
  type ContentionClinic,
  creatingPatients,
  openContention,
} from './contention-clinic.ts'
import { burst, type LoadCall, type Outcome, percentile, sustained } from './contention-load.ts'

type Bound = {
  /** The required numbers of responses, by status; unlisted statuses must not occur. */
  readonly statuses?: Readonly<Record<number, number>>
  /** No 5xx at all. */
  readonly noFailures?: boolean
  /** Milliseconds. */
  readonly p95?: number
  readonly max?: number
}

type Line = { readonly label: string; readonly outcome: Outcome; readonly broken: string[] }

const SECONDS = 60

/** Measures bursts and sustained rates; `perSecond` of overload is twice the highest rate that holds. */
export async function measureContention(
  endpoint: string,
  tableName: string,
  table: Table,
  print: (line: string) => void,
) {
  const contention = await openContention(endpoint, tableName, table)
  const lines: Line[] = []
  const measure = async (
    label: string,
    bound: Bound,
    callOf: (contention: Contention, clinic: ContentionClinic) => LoadCall,
    load: (call: LoadCall) => Promise<Outcome>,
  ): Promise<Outcome> => {
    const outcome = await quietly(async () => load(callOf(contention, await contention.newClinic())))
    const line = { label, outcome, broken: brokenBounds(outcome, bound) }
    lines.push(line)
    print(row(line))
    return outcome
  }
  const slot: typeof booking = (...parts) => booking(parts[0], parts[1], { sameSlot: true })
  const noFailures = { noFailures: true, max: 10_000 }
  try {
    for (const count of [16, 64])
      await measure(`${count} patients at once`, noFailures, creatingPatients, (call) => burst(count, call))
    await measure('64 bookings at once, 12 doctors', noFailures, booking, (call) => burst(64, call))
    await measure(
      '64 bookings of one slot at once',
      { statuses: { 201: 1, 409: 63 }, max: 10_000 },
      slot,
      (call) => burst(64, call),
    )
    const rate = { noFailures: true, p95: 1500 }
    await measure('25 patients a second', rate, creatingPatients, (call) => sustained(25, SECONDS, call))
    await measure('40 bookings a second, 12 doctors', rate, booking, (call) => sustained(40, SECONDS, call))
    const best = await measure('30 patients a second', {}, creatingPatients, (call) =>
      sustained(30, SECONDS, call),
    )
    const overload = await measure('60 patients a second', { max: 10_000 }, creatingPatients, (call) =>
      sustained(60, SECONDS, call),
    )
    const [most, left] = [goodput(best), goodput(overload)]
    if (left < 0.9 * most)
      lines.at(-1)?.broken.push(`goodput ${left.toFixed(1)}/s is under 90 % of ${most.toFixed(1)}/s`)
  } finally {
    await contention.close()
  }
  return {
    section: section(lines),
    failures: lines.flatMap(({ label, broken }) => broken.map((text) => `${label}: ${text}`)),
  }
}

const goodput = ({ statuses, seconds }: Outcome): number => (statuses.get(201) ?? 0) / seconds

function brokenBounds(outcome: Outcome, { statuses, noFailures, p95, max }: Bound): string[] {
  const failures = [...outcome.statuses].filter(([status]) => status >= 500)
  const wrong = [...outcome.statuses].filter(([status, count]) => statuses && statuses[status] !== count)
  return [
    ...(noFailures ? failures : []).map(([status, count]) => `${count} x ${status}`),
    ...wrong.map(([status, count]) => `${count} x ${status}`),
    ...(p95 !== undefined && percentile(outcome, 0.95) > p95 ? ['p95 exceeds its bound'] : []),
    ...(max !== undefined && percentile(outcome, 1) > max ? ['the slowest response exceeds its bound'] : []),
  ]
}

function row({ label, outcome }: Line): string {
  const { statuses, seconds } = outcome
  const responses = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} x ${status}`)
  const ms = (share: number) => Math.round(percentile(outcome, share)).toLocaleString('en')
  const cells = [label, responses.join(', '), goodput(outcome).toFixed(1)]
  return `| ${[...cells, ms(0.5), ms(0.95), ms(1), seconds.toFixed(1)].join(' | ')} |`
}

const section = (lines: readonly Line[]): string =>
  [
    'One clinic, handlers in process, on the realistic engine: transactions take 18 ms, reads and single writes 5 ms, each',
    'with 30 % jitter, and a transaction that overlaps another on an item is rejected. Latencies in milliseconds.',
    '',
    '| | responses | 201 a second | p50 | p95 | slowest | seconds |',
    '|---|---|---:|---:|---:|---:|---:|',
    ...lines.map(row),
    '',
  ].join('\n')

/** Runs work without the log lines of its handlers. */
async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const write = process.stdout.write
  process.stdout.write = () => true
  try {
    return await work()
  } finally {
    process.stdout.write = write
  }
}
