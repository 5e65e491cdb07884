/**
 * `npm run bench -- --cold`: what callers wait for a new process, with the share of a core that the function has after its start, and what
 * it and a warm one cost, as ratios to a handler without this project's code.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { bundle, bundleFunctions } from '../../infra/functions/bundles.ts'
import { DEFAULT_MEMORY_MB } from '../../infra/functions/service-function.ts'
import type { Route } from '../../shared/api/route.ts'
import { ROUTES } from '../../shared/api/routes.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import { addDays } from '../../shared/domain/clock.ts'
import { type Credential, DEFAULT_CELL } from '../../shared/domain/credential.ts'
import { SCOPES } from '../../shared/domain/scope.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { credentialUse } from '../../shared/store/credential-use.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { MAX_CREATED, patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { COLD_BOUND } from './bounds.ts'
import { cpuShare, holdToShare } from './cpu-share.ts'
import { createClinic, createDoctors, newAppointment, newPatient, referenceTo } from './records.ts'
import { startReplay } from './replay.ts'

export type Lap = { readonly ms: number; readonly cpuMs: number }
export type ProcessReport = {
  readonly imported: Lap
  readonly first: Lap
  readonly second: Lap
  readonly warm: readonly Lap[]
}

type Run = (warmCalls: number, share?: number) => Promise<ProcessReport>
type Pair = { own: ProcessReport; bare: ProcessReport }

/** Ratios of an endpoint to the bare handler, of elapsed time unless the name says otherwise. */
type Ratios = Readonly<Record<'cold' | 'first' | 'second' | 'coldCpu' | 'warm' | 'warmCpu', number>>

const ENDPOINTS = [
  'get-patient',
  'list-doctors',
  'list-patients',
  'list-appointments',
  'create-appointment',
  'send-message',
]

/** Pairs of processes: many that make two calls, and some that make many. */
const ROUNDS = 21
const WARM_ROUNDS = 7
const WARM_CALLS = 60

/** All measured processes run on this core, and nothing else should. */
const CORE = '1'

const TODAY = new Date().toISOString().slice(0, 10)

/** Measures endpoints and the bare handler in turn, in random order, with the calls of the table that the endpoint makes. */
export async function measureCold(
  endpoint: string,
  tableName: string,
  table: Table,
  folder: string,
): Promise<{ section: string; failures: string[] }> {
  const clinic = await buildColdClinic(table)
  await bundleFunctions(ENDPOINTS, folder)
  const own = (name: string) => ({ [join(name, 'index')]: join('bin/bench', `${name}.ts`) })
  await bundle({ ...own('bare-handler'), ...own('bare-sender') }, folder)
  const subjects = await Promise.all(
    ENDPOINTS.map(async (id) => {
      const replay = await startReplay(endpoint)
      const eventFile = join(folder, `${id}.json`)
      writeFileSync(eventFile, JSON.stringify(eventOf(clinic, id)))
      return {
        id,
        replay,
        run: (name: string, warmCalls: number, calls = '[]', share = 1) =>
          runProcess(folder, name, [eventFile, warmCalls], environment(tableName, replay.url, calls), share),
      }
    }),
  )
  const pairs: { readonly id: string; readonly own: Run; readonly bare: Run }[] = []
  for (const { id, replay, run } of subjects) {
    // So that no measured request is the first of its minute or hour, which makes more calls.
    await clinic.countRequest()
    await run(id, 0)
    const tableCalls = replay.takeCalls()
    const calls = JSON.stringify(tableCalls)
    process.stdout.write(
      `${id}: ${tableCalls.map((wave) => wave.map(({ name }) => name).join(' + ')).join(', ')}\n`,
    )
    const bare = id === 'send-message' ? 'bare-sender' : 'bare-handler'
    await run(bare, 0, calls)
    pairs.push({
      id,
      own: (warmCalls, share) => run(id, warmCalls, calls, share),
      bare: (warmCalls, share) => run(bare, warmCalls, calls, share),
    })
  }
  /** The endpoint and the bare handler run one after the other, because the machine is not equally fast all the time. */
  const measure = async (rounds: number, warmCalls: number, shareOf?: (id: string) => number) => {
    const reports = Object.fromEntries(ENDPOINTS.map((id): [string, Pair[]] => [id, []]))
    for (let round = 0; round < rounds; round++)
      for (const { id, ...pair } of shuffled(pairs)) {
        const report: Partial<Pair> = {}
        for (const which of shuffled(['own', 'bare'] as const))
          report[which] = await pair[which](warmCalls, shareOf?.(id))
        reports[id]?.push(report as Pair)
      }
    return reports
  }
  const started = await measure(ROUNDS, 1, (id) => cpuShare(memoryOf(id)))
  const warm = await measure(WARM_ROUNDS, WARM_CALLS)
  for (const { replay } of subjects) replay.close()
  const lines = ENDPOINTS.map((id) => ({ id, ratios: ratios(started[id] ?? [], warm[id] ?? []) }))
  const failures = lines.flatMap(({ id, ratios: { cold } }) =>
    cold > COLD_BOUND ? [`cold ${id}: ${cold.toFixed(2)} x`] : [],
  )
  return { section: sectionOf(lines), failures }
}

/** The memory of an endpoint's function in MB. */
const memoryOf = (id: string): number =>
  ROUTES.find((route: Route) => route.id === id)?.uses.memory ?? DEFAULT_MEMORY_MB

async function runProcess(
  folder: string,
  name: string,
  input: readonly [eventFile: string, warmCalls: number],
  env: Record<string, string>,
  share: number,
): Promise<ProcessReport> {
  const file = (of: string) => join(folder, of, ENDPOINTS.includes(of) ? 'index.mjs' : 'index.js')
  const args = [
    '-c',
    CORE,
    process.execPath,
    'bin/bench/measured-process.mjs',
    file(name),
    ...input.map(String),
    ...(share < 1 ? ['stops'] : []),
  ]
  const child = spawn('taskset', args, { env, stdio: ['ignore', 'ignore', 'inherit', 'pipe'] })
  const pipe = child.stdio[3] as Readable
  const output = text(pipe)
  if (share < 1) pipe.once('data', () => holdToShare((child as ChildProcess & { pid: number }).pid, share))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${name} ended with code ${code}`)
  return JSON.parse(await output)
}

const environment = (tableName: string, url: string, calls: string) => ({
  TABLE_NAME: tableName,
  STAGE: 'bench',
  CHECK_RESPONSES: 'off',
  REQUESTS_PER_MINUTE: '1000000',
  SMS_SENDER_ID: 'Bench',
  SMS_MAX_PRICE: '0.10',
  SMS_PER_DAY: '1000000',
  EMAILS_PER_DAY: '1000000',
  MESSAGES_PER_RECIPIENT: '1000000',
  SMS_COUNTRIES: 'TR',
  EMAIL_QUEUE_URL: `${url}/000000000000/emails`,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'bench',
  AWS_SECRET_ACCESS_KEY: 'bench',
  AWS_ENDPOINT_URL: url,
  CALLS: calls,
})

/** A clinic with two days of appointments, in a zone with daylight saving time. */
async function buildColdClinic(table: Table) {
  const id = await createClinic(table, { timezone: 'Europe/Berlin' })
  const credentials = credentialStore({ table, now: Date.now })
  const { key, secret } = await credentials.issue({
    name: 'bench',
    clinic: id,
    cell: DEFAULT_CELL,
    scopes: SCOPES,
    expiresAt: null,
    requestsPerMinute: 1_000_000,
  })
  const doctors = await createDoctors(table, id, 20, parseWeeklyHours('mon-sun 00:00-23:59'))
  const patients = Array.from({ length: MAX_CREATED }, (_, at) =>
    newPatient({ phoneNumber: '+905321234567', emailAddress: `patient${at}@example.com` }),
  )
  await patientWriter({ table }).createMany(id, patients)
  for (let at = 0; at < 40; at++) {
    const [patient, doctor] = [patients[at % patients.length], doctors[at % doctors.length]]
    if (!patient || !doctor) throw new Error('The clinic has no patients or doctors.')
    const changes = new Changeset(table, id)
    const times = { date: addDays(TODAY, at < 20 ? 0 : 1), startTime: '10:00', endTime: '10:30' }
    appointmentStore({ table }).change(
      changes,
      null,
      newAppointment({
        patient: referenceTo(patient),
        doctor: { id: doctor.id, fullName: doctor.fullName },
        ...times,
      }),
    )
    await changes.commit()
  }
  const uses = credentialUse({ table, now: Date.now })
  return {
    authorization: `Developer ${key}:${secret}`,
    patient: patients[0]?.id,
    doctor: doctors[0].id,
    countRequest: async () => {
      const credential = (await credentials.authenticate({ key, secret })) as Credential
      await uses.countRequest(credential)
      await uses.recordUse(credential)
    },
  }
}

type ColdClinic = Awaited<ReturnType<typeof buildColdClinic>>

/** The event of a typical request of an endpoint. */
function eventOf({ authorization, patient, doctor }: ColdClinic, id: string): object {
  const bodies: Record<string, object> = {
    'create-appointment': {
      patient_id: patient,
      doctor_id: doctor,
      appointment_date: addDays(TODAY, 2),
      start_time: '12:00',
    },
    'send-message': { channel: 'email', patient_id: patient, subject: 'Bench', message: 'Bench' },
  }
  const body = bodies[id]
  return {
    httpMethod: body ? 'POST' : 'GET',
    pathParameters: id === 'get-patient' ? { id: patient } : null,
    multiValueHeaders: { authorization: [authorization], 'content-type': ['application/json'] },
    multiValueQueryStringParameters: null,
    body: body ? JSON.stringify(body) : null,
    requestContext: { extendedRequestId: 'bench', identity: { sourceIp: '192.0.2.1' } },
  }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number

const medianRatio = (pairs: readonly Pair[], value: (report: ProcessReport) => number): number =>
  median(pairs.map(({ own, bare }) => value(own) / value(bare)))

function ratios(pairs: readonly Pair[], warmPairs: readonly Pair[]): Ratios {
  const total = (laps: readonly Lap[]) => laps.reduce((sum, { cpuMs }) => sum + cpuMs, 0)
  return {
    cold: medianRatio(pairs, ({ imported, first }) => imported.ms + first.ms),
    first: medianRatio(pairs, ({ first }) => first.ms),
    second: medianRatio(pairs, ({ second }) => second.ms),
    coldCpu: medianRatio(pairs, ({ imported, first }) => imported.cpuMs + first.cpuMs),
    warm: medianRatio(warmPairs, ({ warm }) => median(warm.map(({ ms }) => ms))),
    warmCpu: medianRatio(warmPairs, ({ warm }) => total(warm)),
  }
}

function shuffled<T>(items: readonly T[]): T[] {
  const order = items.map((item) => ({ item, at: Math.random() })).sort((a, b) => a.at - b.at)
  return order.map(({ item }) => item)
}

const INTRODUCTION = `Elapsed time of endpoints, and CPU time where the column says so, as a ratio to a bare handler: the SDK with its defaults,
its chain of credentials included, minified, which makes the same calls of the table, side by side where the endpoint does, and nothing
else. A function is started with a whole core, and called with the share of a core that it has by its memory; it is warm with a whole core.
The read of an endpoint's start is part of its start, and of the bare handler's first call. Each ratio is the median of ${ROUNDS} pairs of new
processes, or ${WARM_ROUNDS} for warm ones, one after the other on one core, in random order, with replies of a local server, without TLS.`

const sectionOf = (lines: readonly { id: string; ratios: Ratios }[]): string =>
  [
    INTRODUCTION,
    '',
    '| endpoint | memory, MB | start and first call | bound | first call | second call | start and first call, CPU | warm | warm, CPU |',
    '|---|---:|---:|---:|---:|---:|---:|---:|---:|',
    ...lines.map(({ id, ratios: { cold, first, second, coldCpu, warm, warmCpu } }) => {
      const cells = [cold, COLD_BOUND, first, second, coldCpu, warm, warmCpu]
      return `| ${id} | ${memoryOf(id)} | ${cells.map((cell) => cell.toFixed(2)).join(' | ')} |`
    }),
    '',
  ].join('\n')
