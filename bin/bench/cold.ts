/**
 * `npm run bench -- --cold`: what callers wait for a new process, with the share of a core that the function has after its start, and the
 * CPU time of it and of a warm one, as ratios to a handler without this project's code.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { bundle, bundleFunctions } from '../../infra/functions/bundles.ts'
import { DEFAULT_MEMORY_MB } from '../../infra/functions/service-function.ts'
import type { Route } from '../../shared/api/route.ts'
import { ROUTES } from '../../shared/api/routes.ts'
import { addDays } from '../../shared/domain/clock.ts'
import type { Credential } from '../../shared/domain/credential.ts'
import type { Patient } from '../../shared/domain/patients/patient.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { credentialUse } from '../../shared/store/credential-use.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { COLD_BOUND } from './bounds.ts'
import { type BenchRequest, environment, eventOf } from './functions.ts'
import { newAppointment, type OpenClinic, openClinic } from './records.ts'
import { documentCalls, startTableProxy } from './table-proxy.ts'

type Lap = { readonly ms: number; readonly cpuMs: number }
type Report = { readonly start: Lap; readonly first: Lap; readonly warm: Lap }
type Pair = { readonly own: Report; readonly bare: Report }

/** Pairs of processes: many that make one call, and some that make many. */
const ROUNDS = 21
const WARM_ROUNDS = 7
const WARM_CALLS = 60

/** All measured processes run on this core, and nothing else should. */
const CORE = '1'

/** Long enough that calls made side by side overlap, even in a cold process. */
const RECORDING_DELAY_MS = 150

const TODAY = new Date().toISOString().slice(0, 10)

/** Measures endpoints and the bare handler in turn, with the calls of the table that the endpoint makes. */
export async function measureCold(endpoint: string, tableName: string, table: Table, folder: string) {
  const clinic = await buildColdClinic(table)
  const requests = requestsOf(clinic)
  const entry = (name: string) => ({ [join(name, 'index')]: join('bin/bench', `${name}.ts`) })
  const ids = requests.map(({ to }) => to)
  await bundleFunctions(ids, folder)
  await bundle({ ...entry('bare-handler'), ...entry('bare-sender') }, folder)
  const lines: { readonly id: string; readonly cells: readonly number[] }[] = []
  for (const request of requests) {
    const { to: id } = request
    const eventFile = join(folder, `${id}.json`)
    writeFileSync(eventFile, JSON.stringify(eventOf(clinic.authorization, request)))
    const proxy = await startTableProxy(endpoint, RECORDING_DELAY_MS)
    let calls = '[]'
    const run = (name: string, warmCalls = 0, share = 1) => {
      const file = join(folder, name, name === id ? 'index.mjs' : 'index.js')
      const env = { ...environment(tableName, proxy.url), CALLS: calls }
      return runProcess([file, eventFile, String(warmCalls)], env, share)
    }
    // So that no measured request is the first of its minute or hour, which makes more calls.
    await countRequest(table, clinic)
    await run(id)
    calls = JSON.stringify(documentCalls(proxy.takeCalls()))
    proxy.replay()
    const bare = id === 'send-message' ? 'bare-sender' : 'bare-handler'
    await run(bare)
    /** One after the other, because the machine is not equally fast all the time. */
    const pairsOf = async (rounds: number, warmCalls: number, share: number) => {
      const pairs: Pair[] = []
      for (let round = 0; round < rounds; round++)
        pairs.push({ own: await run(id, warmCalls, share), bare: await run(bare, warmCalls, share) })
      return pairs
    }
    const cold = await pairsOf(ROUNDS, 0, cpuShare(memoryOf(id)))
    lines.push({ id, cells: ratiosOf(cold, await pairsOf(WARM_ROUNDS, WARM_CALLS, 1)) })
    proxy.close()
  }
  const failures = lines.flatMap(({ id, cells: [cold = 0] }) =>
    cold > COLD_BOUND ? [`cold ${id}: ${cold.toFixed(2)} x`] : [],
  )
  return { section: sectionOf(lines), failures }
}

/** The memory of an endpoint's function in MB. */
const memoryOf = (id: string): number =>
  ROUTES.find((route: Route) => route.id === id)?.uses.memory ?? DEFAULT_MEMORY_MB

async function runProcess(args: readonly string[], env: Record<string, string>, share: number) {
  const command = ['-c', CORE, process.execPath, 'bin/bench/measured-process.mjs', ...args]
  if (share < 1) command.push('stops')
  const child = spawn('taskset', command, { env, stdio: ['ignore', 'ignore', 'inherit', 'pipe'] })
  const pipe = child.stdio[3] as Readable
  const output = text(pipe)
  if (share < 1) pipe.once('data', () => holdToShare((child as ChildProcess & { pid: number }).pid, share))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${args[0]} ended with code ${code}`)
  return JSON.parse(await output) as Report
}

/** Lambda allots the CPU time of a function in periods of this length. */
const PERIOD_MS = 20

/** A function with this memory has one core (Lambda Developer Guide, "Configure Lambda function memory"). */
const MEGABYTES_PER_CORE = 1769

/** The share of one core that a function has after its start, by its memory. */
const cpuShare = (megabytes: number): number => Math.min(1, megabytes / MEGABYTES_PER_CORE)

/**
 * Stops the process in each period when it has used its share, until it ends. What it uses too much is taken from later periods; what
 * it does not use is lost. By signals, because a quota of a control group needs rights that a bench may not have.
 */
async function holdToShare(pid: number, share: number): Promise<void> {
  try {
    let allowed = usedMs(pid)
    for (;;) {
      const end = performance.now() + PERIOD_MS
      allowed = Math.min(usedMs(pid), allowed) + share * PERIOD_MS
      if (usedMs(pid) < allowed) process.kill(pid, 'SIGCONT')
      while (performance.now() < end) {
        if (usedMs(pid) >= allowed) process.kill(pid, 'SIGSTOP')
        await sleep(1)
      }
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['ENOENT', 'ESRCH'].includes(code)) throw error
  }
}

/** The CPU time of all threads of a process, in milliseconds. @throws Error when the process has ended */
const usedMs = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (sum, thread) =>
      sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
    0,
  )

/** A clinic with two days of appointments, in a zone with daylight saving time. */
async function buildColdClinic(table: Table): Promise<OpenClinic> {
  const clinic = await openClinic(table, 20, { timezone: 'Europe/Berlin' })
  const patient = clinic.patients[0] as Patient
  for (const date of [TODAY, addDays(TODAY, 1)])
    for (const doctor of clinic.doctors) {
      const changes = new Changeset(table, clinic.id)
      const times = { date, startTime: '10:00', endTime: '10:30' }
      appointmentStore({ table }).change(changes, null, newAppointment(patient, doctor, times))
      await changes.commit()
    }
  return clinic
}

async function countRequest(table: Table, { key, secret }: OpenClinic): Promise<void> {
  const platform = { table, now: Date.now }
  const credential = (await credentialStore(platform).authenticate({ key, secret })) as Credential
  await credentialUse(platform).countRequest(credential)
  await credentialUse(platform).recordUse(credential)
}

/** A typical request of each measured endpoint. */
function requestsOf({ patients, doctors }: OpenClinic): BenchRequest[] {
  const patient = patients[0]?.id as string
  const time = { appointment_date: addDays(TODAY, 2), start_time: '12:00' }
  const message = { channel: 'email', patient_id: patient, subject: 'Bench', message: 'Bench' }
  return [
    { to: 'get-patient', path: { id: patient } },
    { to: 'list-doctors' },
    { to: 'list-patients' },
    { to: 'list-appointments' },
    { to: 'create-appointment', body: { patient_id: patient, doctor_id: doctors[0].id, ...time } },
    { to: 'send-message', body: message },
  ]
}

function medianRatio(pairs: readonly Pair[], value: (report: Report) => number): number {
  const ratios = pairs.map(({ own, bare }) => value(own) / value(bare)).toSorted((a, b) => a - b)
  return ratios[Math.floor(ratios.length / 2)] as number
}

/** Ratios of an endpoint to the bare handler, with the bound of the first. */
const ratiosOf = (cold: readonly Pair[], warm: readonly Pair[]): readonly number[] => [
  medianRatio(cold, ({ start, first }) => start.ms + first.ms),
  COLD_BOUND,
  medianRatio(cold, ({ first }) => first.ms),
  medianRatio(cold, ({ start, first }) => start.cpuMs + first.cpuMs),
  medianRatio(warm, ({ warm }) => warm.cpuMs),
]

const sectionOf = (lines: readonly { id: string; cells: readonly number[] }[]): string =>
  [
    'Elapsed time of endpoints, and CPU time where the column says so, as a ratio to a bare handler: the SDK with its defaults,',
    'its chain of credentials included, minified, which makes the same calls of the table, side by side where the endpoint does, and nothing',
    'else. A function is started with a whole core, and called with the share of a core that it has by its memory; it is warm with a whole core.',
    "The read of an endpoint's start is part of its start, and of the bare handler's first call. Each ratio is the median of 21 pairs of new",
    'processes, or 7 for warm ones, one after the other on one core, with replies of a local server, without TLS.',
    '',
    '| endpoint | memory, MB | start and first call | bound | first call | start and first call, CPU | warm, CPU |',
    '|---|---:|---:|---:|---:|---:|---:|',
    ...lines.map(({ id, cells }) => {
      const ratios = cells.map((ratio) => ratio.toFixed(2))
      return `| ${id} | ${memoryOf(id)} | ${ratios.join(' | ')} |`
    }),
    '',
  ].join('\n')
