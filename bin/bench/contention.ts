/** `npm run bench -- --contention`: what one clinic's writers get when many of them want the same items. */
import type { Table } from '../../shared/store/table/table.ts'
import {
  booking,
  bookingAndCreating,
  type Contention,
  type ContentionClinic,
  creatingPatients,
  openContention,
} from './contention-clinic.ts'
import { beside, burst, type LoadCall, type Outcome, percentile, sustained } from './contention-load.ts'

type Bound = {
  /** The required numbers of responses, by status; unlisted statuses must not occur. */
  readonly statuses?: Readonly<Record<number, number>>
  /** No 5xx at all. */
  readonly noFailures?: boolean
  /** Milliseconds. */
  readonly p95?: number
  readonly p99?: number
}

type Line = { readonly label: string; readonly outcome: Outcome; readonly broken: string[] }

const SECONDS = 60

/** Measures bursts, sustained rates, and requests beside an import. */
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
  const rate = { noFailures: true, p99: 4000 }
  try {
    await measure('64 patients at once', { noFailures: true }, creatingPatients, (call) => burst(64, call))
    await measure('64 bookings at once, 12 doctors', { noFailures: true }, booking, (call) => burst(64, call))
    await measure('64 bookings of one slot at once', { statuses: { 201: 1, 409: 63 } }, slot, (call) =>
      burst(64, call),
    )
    await measure('20 patients a second', rate, creatingPatients, (call) => sustained(20, SECONDS, call))
    await measure('20 bookings a second, 12 doctors', rate, booking, (call) => sustained(20, SECONDS, call))
    await measure(
      'a patient and a booking a second, beside an import of 5,000 patients and 5,000 appointments',
      { noFailures: true, p95: 500 },
      bookingAndCreating,
      (call) => beside(contention.import, call),
    )
  } finally {
    await contention.close()
  }
  return {
    section: section(lines),
    failures: lines.flatMap(({ label, broken }) => broken.map((text) => `${label}: ${text}`)),
  }
}

function brokenBounds(outcome: Outcome, { statuses, noFailures, p95, p99 }: Bound): string[] {
  const failures = [...outcome.statuses].filter(([status]) => status >= 500)
  const wrong = [...outcome.statuses].filter(([status, count]) => statuses && statuses[status] !== count)
  return [
    ...(noFailures ? failures : []).map(([status, count]) => `${count} x ${status}`),
    ...wrong.map(([status, count]) => `${count} x ${status}`),
    ...(p95 !== undefined && percentile(outcome, 0.95) > p95 ? ['p95 exceeds its bound'] : []),
    ...(p99 !== undefined && percentile(outcome, 0.99) > p99 ? ['p99 exceeds its bound'] : []),
  ]
}

function row({ label, outcome }: Line): string {
  const { statuses, seconds } = outcome
  const responses = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} x ${status}`)
  const ms = (share: number) => Math.round(percentile(outcome, share)).toLocaleString('en')
  const cells = [label, responses.join(', '), ms(0.5), ms(0.95), ms(0.99), ms(1), seconds.toFixed(1)]
  return `| ${cells.join(' | ')} |`
}

const section = (lines: readonly Line[]): string =>
  [
    'One clinic, handlers in process, on the realistic engine: transactions take 18 ms, reads and single writes 5 ms, each',
    'with 30 % jitter, and a transaction that overlaps another on an item is rejected. Latencies in milliseconds.',
    '',
    '| | responses | p50 | p95 | p99 | slowest | seconds |',
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
