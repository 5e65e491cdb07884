/** `npm run bench -- --cold`: the time of new processes and of warm ones, as ratios to a handler without this project's code. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { bundle, bundleFunctions } from '../../infra/functions/bundles.ts'
import { addDays } from '../../shared/domain/clock.ts'
import type { Patient } from '../../shared/domain/patients/patient.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { apiEvent, type RequestInput } from '../../test/support/event.ts'
import { environment } from './functions.ts'
import { createAppointments, type OpenClinic, openClinic, TODAY, TOMORROW } from './records.ts'
import { type Bench, type Measured, sectionOf } from './report.ts'
import { startTableProxy } from './table-proxy.ts'

type Lap = { readonly ms: number; readonly cpuMs: number }
type Report = { readonly start: Lap; readonly first: Lap; readonly warm: Lap }
type Pair = { readonly own: Report; readonly bare: Report }

/** What a caller waits for a new function, its start and first call, as a ratio to a bare handler with the same calls of the table. */
const COLD_BOUND = 1.35

const PAIRS = 15
const WARM_CALLS = 60

/** All measured processes run on this core, and nothing else should. */
const CORE = '1'

/** Long enough that calls made side by side overlap, even in a cold process. */
const RECORDING_DELAY_MS = 150

/** Measures endpoints and the bare handler in turn, with the calls of the table that the endpoint makes. */
export async function measureCold({ endpoint, tableName, table, folder }: Bench): Promise<Measured> {
  const clinic = await buildColdClinic(table)
  const requests = requestsOf(clinic)
  const entry = (name: string) => ({ [join(name, 'index')]: join('bin/bench', `${name}.ts`) })
  await bundleFunctions(Object.keys(requests), folder)
  await bundle({ ...entry('bare-handler'), ...entry('bare-sender') }, folder)
  for (const [id, request] of Object.entries(requests))
    writeFileSync(join(folder, `${id}.json`), JSON.stringify(apiEvent(request)))
  const run = (name: string, id: string, url: string, calls = '[]', warmCalls = 0) => {
    const files = [join(folder, name, name === id ? 'index.mjs' : 'index.js'), join(folder, `${id}.json`)]
    return runProcess([...files, String(warmCalls)], { ...environment(tableName, url), CALLS: calls })
  }
  const rows: string[][] = []
  const failures: string[] = []
  for (const id of Object.keys(requests)) {
    // So that no measured request is the first of its minute or hour, which makes more calls.
    await run('get-patient', 'get-patient', endpoint)
    const proxy = await startTableProxy(endpoint, RECORDING_DELAY_MS)
    await run(id, id, proxy.url)
    const calls = JSON.stringify(proxy.documentCalls())
    proxy.replay()
    const bare = id === 'send-message' ? 'bare-sender' : 'bare-handler'
    await run(bare, id, proxy.url, calls)
    const measure = (name: string) => run(name, id, proxy.url, calls, WARM_CALLS)
    const pairs: Pair[] = []
    // One after the other, because the machine is not equally fast all the time.
    while (pairs.length < PAIRS) pairs.push({ own: await measure(id), bare: await measure(bare) })
    await proxy.close()
    const cold = ratioOf(pairs, ({ start, first }) => start.ms + first.ms)
    const others = [
      ratioOf(pairs, ({ first }) => first.ms),
      ratioOf(pairs, ({ start, first }) => start.cpuMs + first.cpuMs),
      ratioOf(pairs, ({ warm }) => warm.cpuMs),
    ]
    rows.push([id, ...[cold, COLD_BOUND, ...others].map((ratio) => ratio.toFixed(2))])
    if (cold > COLD_BOUND) failures.push(`cold ${id}: ${cold.toFixed(2)} x`)
  }
  return { section: sectionOf(INTRODUCTION, HEAD, rows), failures }
}

async function runProcess(args: readonly string[], env: Record<string, string>): Promise<Report> {
  const command = ['-c', CORE, process.execPath, 'bin/bench/measured-process.mjs', ...args]
  const child = spawn('taskset', command, { env, stdio: ['ignore', 'ignore', 'inherit', 'pipe'] })
  const output = text(child.stdio[3] as Readable)
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${args[0]} ended with code ${code}`)
  return JSON.parse(await output)
}

/** A clinic with two days of appointments, in a zone with daylight saving time. */
async function buildColdClinic(table: Table): Promise<OpenClinic> {
  const opened = await openClinic(table, 20, { timezone: 'Europe/Berlin' })
  const { clinic, patients, doctors } = opened
  for (const date of [TODAY, TOMORROW]) {
    const times = { date, startTime: '10:00', endTime: '10:30' }
    await createAppointments(table, clinic, patients[0] as Patient, doctors, times)
  }
  return opened
}

/** A typical request of each measured endpoint. */
function requestsOf({ patients, doctors, credential }: OpenClinic): Record<string, RequestInput> {
  const id = patients[0]?.id ?? ''
  const headers = { ...credential.headers, 'content-type': 'application/json' }
  const post = (body: object) => ({ method: 'POST', headers, body: JSON.stringify(body) })
  const time = { appointment_date: addDays(TODAY, 2), start_time: '12:00' }
  return {
    'get-patient': { headers, path: { id } },
    'list-doctors': { headers },
    'list-patients': { headers },
    'list-appointments': { headers },
    'create-appointment': post({ patient_id: id, doctor_id: doctors[0].id, ...time }),
    'send-message': post({ channel: 'email', patient_id: id, subject: 'Bench', message: 'Bench' }),
  }
}

/** The fastest ones: on a busy machine, the others waited for it. */
const ratioOf = (pairs: readonly Pair[], value: (report: Report) => number): number =>
  Math.min(...pairs.map(({ own }) => value(own))) / Math.min(...pairs.map(({ bare }) => value(bare)))

const HEAD = [
  'endpoint',
  'start and first call',
  'bound',
  'first call',
  'start and first call, CPU',
  'warm, CPU',
]
const INTRODUCTION = `Elapsed time of endpoints, and CPU time where the column says so, as a ratio to a bare handler: the SDK with its defaults,
its chain of credentials included, minified, which makes the same calls of the table, side by side where the endpoint does, and nothing
else. Processes have a whole core; a function of 512 MB is called with a share of one, so that its first call takes longer.
The read of an endpoint's start is part of its start, and of the bare handler's first call. Each ratio is of the fastest of ${PAIRS} new processes
of each, in turn on one core, with replies of a local server, without TLS.`
