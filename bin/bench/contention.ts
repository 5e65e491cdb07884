/** `npm run bench -- --contention`: what one clinic's writers get when many of them want the same items. */
import { request } from '../../test/support/functions.ts'
import { startRealisticDynamoDb } from '../../test/support/realistic-dynamodb/realistic-dynamodb.ts'
import { clinicRows } from './clinic-files.ts'
import { beside, burst, type LoadCall, type Outcome, sustained } from './contention-load.ts'
import { environment } from './functions.ts'
import { bookingBody, type OpenClinic, openBusyClinic } from './records.ts'
import { type Bench, type Measured, sectionOf } from './report.ts'
import { runImport } from './tool-run.ts'

/** Latencies in milliseconds, and the required numbers of responses by status. Without these, no response may be a 5xx. */
type Bound = Partial<Outcome['latencies']> & { readonly statuses?: Readonly<Record<number, number>> }

const SECONDS = 60
const IMPORTED = 5000

/** Measures bursts, sustained rates, and requests beside an import. */
export async function measureContention(bench: Bench): Promise<Measured> {
  const dynamodb = await startRealisticDynamoDb({ engine: bench.endpoint })
  Object.assign(process.env, environment(bench.tableName, dynamodb.endpoint))
  const poster =
    (to: string, bodyOf: (clinic: OpenClinic, index: number) => object) =>
    (clinic: OpenClinic): LoadCall =>
    (index) =>
      request(to, { headers: clinic.credential.headers, body: bodyOf(clinic, index) })
  const patients = poster('create-patient', () => ({ first_name: 'Ada', last_name: 'Kaya' }))
  const bookings = poster('create-appointment', bookingBody)
  const holds = poster('create-hold', (clinic, index) => {
    const { patient_id: _, ...time } = bookingBody(clinic, index)
    return time
  })
  /** Every second of them is a hold. */
  const halves = (clinic: OpenClinic) => (index: number) =>
    (index % 2 === 0 ? holds : bookings)(clinic)(index)
  const invoices = poster('create-invoice', ({ patients }, index) => ({
    patient_id: patients[index % patients.length]?.id,
    line_items: [{ description: 'Check-up', quantity: 1, unit_price: 10 }],
  }))
  const rows: (string | number)[][] = []
  const failures: string[] = []
  const measure = async (
    label: string,
    { statuses: expected, ...bounds }: Bound,
    callOf: (clinic: OpenClinic) => LoadCall,
    load: (call: LoadCall, clinic: OpenClinic) => Promise<Outcome>,
  ): Promise<void> => {
    const clinic = await openBusyClinic(bench.table)
    const { statuses, latencies, seconds } = await load(callOf(clinic), clinic)
    const responses = statuses.map(([status, count]) => `${count} x ${status}`)
    const { p50, p95, p99, slowest } = latencies
    rows.push([label, responses.join(', '), p50, p95, p99, slowest, seconds.toFixed(1)])
    for (const [status, count] of statuses)
      if (expected ? expected[status] !== count : status >= 500)
        failures.push(`${label}: ${count} x ${status}`)
    for (const [name, bound] of Object.entries(bounds))
      if (latencies[name as keyof typeof bounds] > bound) failures.push(`${label}: ${name} exceeds its bound`)
  }
  const atOnce = (call: LoadCall) => burst(64, call)
  const forAMinute = (call: LoadCall) => sustained(20, SECONDS, call)
  const rate = { p99: 4000 }
  try {
    await measure('64 patients at once', {}, patients, atOnce)
    await measure('64 bookings at once, 12 doctors', {}, bookings, atOnce)
    await measure('64 invoices at once', {}, invoices, atOnce)
    await measure('64 holds and bookings at once, 12 doctors', {}, halves, atOnce)
    const oneSlot = (clinic: OpenClinic) => (index: number) => (index % 2 ? holds : bookings)(clinic)(0)
    const rivals = '64 holds and bookings of one slot at once'
    await measure(rivals, { statuses: { 201: 1, 409: 63 } }, oneSlot, atOnce)
    await measure('20 patients a second', rate, patients, forAMinute)
    await measure('20 bookings a second, 12 doctors', rate, bookings, forAMinute)
    // A credential has at most 200 holds at a time.
    const forAQuarter = (call: LoadCall) => sustained(20, SECONDS / 4, call)
    await measure('20 holds and bookings a second, 12 doctors', rate, halves, forAQuarter)
    const { patients: all, doctors, appointments } = clinicRows(IMPORTED)
    const imported = { patients: all, doctors, appointments: appointments.slice(0, IMPORTED) }
    const importAll = async ({ clinic }: OpenClinic) => {
      for (const [entity, records] of Object.entries(imported))
        await runImport({ ...bench, endpoint: dynamodb.endpoint }, clinic, entity, records)
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
  return { section: sectionOf(INTRODUCTION, HEAD, rows), failures }
}

const HEAD = ['', 'responses', 'p50', 'p95', 'p99', 'slowest', 'seconds']
const INTRODUCTION = `One clinic, handlers in process, on the realistic engine: transactions take 18 ms, reads and single writes 5 ms, each
with 30 % jitter, and a transaction that overlaps another on an item is rejected. Latencies in milliseconds.`
