/** `npm run bench -- --contention`: what one clinic's writers get when many of them want the same items. */
import type { Table } from '../../shared/store/table/table.ts'
import { startRealisticDynamoDb } from '../../test/support/realistic-dynamodb/realistic-dynamodb.ts'
import { clinicRows, writeRows } from './clinic-files.ts'
import { beside, burst, type LoadCall, type Outcome, percentile, sustained } from './contention-load.ts'
import { environment, eventOf, loadFunction, quietly } from './functions.ts'
import { bookingBody, type OpenClinic, openBusyClinic } from './records.ts'
import { runImport } from './tool-run.ts'

type Bound = {
  /** The required numbers of responses, by status; unlisted statuses must not occur. Without it, no response may be a 5xx. */
  readonly statuses?: Readonly<Record<number, number>>
  /** Milliseconds. */
  readonly p95?: number
  readonly p99?: number
}

type Line = { readonly label: string; readonly outcome: Outcome; readonly broken: string[] }

const SECONDS = 60
const IMPORTED = 5000

/** Measures bursts, sustained rates, and requests beside an import. Clinics are created in `table`, the one behind `endpoint`. */
export async function measureContention(endpoint: string, tableName: string, table: Table, folder: string) {
  const dynamodb = await startRealisticDynamoDb({ engine: endpoint })
  Object.assign(process.env, environment(tableName, dynamodb.endpoint))
  const post = async (to: string) => {
    const call = await loadFunction(to)
    return ({ authorization }: OpenClinic, body: object) => call(eventOf(authorization, { to, body }))
  }
  const [create, book] = [await post('create-patient'), await post('create-appointment')]
  const bill = await post('create-invoice')
  const patient = { first_name: 'Ada', last_name: 'Kaya' }
  const patients = (clinic: OpenClinic) => () => create(clinic, patient)
  const bookings = (clinic: OpenClinic) => (index: number) => book(clinic, bookingBody(clinic, index))
  const line = { description: 'Check-up', quantity: 1, unit_price: 10 }
  const invoices = (clinic: OpenClinic) => (index: number) => {
    const { id: patient_id } = clinic.patients[index % clinic.patients.length] ?? {}
    return bill(clinic, { patient_id, line_items: [line] })
  }
  const lines: Line[] = []
  const measure = async (
    label: string,
    bound: Bound,
    callOf: (clinic: OpenClinic) => LoadCall,
    load: (call: LoadCall, clinic: OpenClinic) => Promise<Outcome>,
  ): Promise<void> => {
    const clinic = await openBusyClinic(table)
    const outcome = await quietly(() => load(callOf(clinic), clinic))
    lines.push({ label, outcome, broken: brokenBounds(outcome, bound) })
  }
  const atOnce = (call: LoadCall) => burst(64, call)
  const forAMinute = (call: LoadCall) => sustained(20, SECONDS, call)
  const rate = { p99: 4000 }
  try {
    await measure('64 patients at once', {}, patients, atOnce)
    await measure('64 bookings at once, 12 doctors', {}, bookings, atOnce)
    await measure('64 invoices at once', {}, invoices, atOnce)
    const oneSlot = (clinic: OpenClinic) => () => bookings(clinic)(0)
    await measure('64 bookings of one slot at once', { statuses: { 201: 1, 409: 63 } }, oneSlot, atOnce)
    await measure('20 patients a second', rate, patients, forAMinute)
    await measure('20 bookings a second, 12 doctors', rate, bookings, forAMinute)
    const { invoices: _, payments: __, ...rows } = clinicRows(IMPORTED)
    const imported = { ...rows, appointments: rows.appointments.slice(0, IMPORTED) }
    const files = Object.entries(imported).map(([entity, all]) => writeRows(folder, entity, all))
    const importAll = async ({ id }: OpenClinic) => {
      for (const file of files) await runImport(dynamodb.endpoint, tableName, id, file)
    }
    await measure(
      'a patient and a booking a second, beside an import of 5,000 patients and 5,000 appointments',
      { p95: 500 },
      (clinic) => (index) => (index % 2 === 0 ? patients : bookings)(clinic)(index),
      (call, clinic) => beside(() => importAll(clinic), call),
    )
  } finally {
    await dynamodb.close()
  }
  const failures = lines.flatMap(({ label, broken }) => broken.map((text) => `${label}: ${text}`))
  return { section: sectionOf(lines), failures }
}

function brokenBounds(outcome: Outcome, { statuses, p95, p99 }: Bound): string[] {
  const wrong = [...outcome.statuses].filter(([status, count]) =>
    statuses ? statuses[status] !== count : status >= 500,
  )
  return [
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

const sectionOf = (lines: readonly Line[]): string =>
  [
    'One clinic, handlers in process, on the realistic engine: transactions take 18 ms, reads and single writes 5 ms, each',
    'with 30 % jitter, and a transaction that overlaps another on an item is rejected. Latencies in milliseconds.',
    '',
    '| | responses | p50 | p95 | p99 | slowest | seconds |',
    '|---|---|---:|---:|---:|---:|---:|',
    ...lines.map(row),
    '',
  ].join('\n')
