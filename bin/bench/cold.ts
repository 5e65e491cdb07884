/**
 * `npm run bench -- --cold`: what a new process costs, and a warm one, as ratios to a handler without this project's code. Then what
 * callers wait for it, with the share of a core that the function has after its start.
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
import { COLD_BOUNDS } from './bounds.ts'
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

/** Ratios of an endpoint to the bare handler, of CPU time unless the name says otherwise. */
type Ratios = Readonly<Record<'imported' | 'first' | 'second' | 'cold' | 'warm' | 'warmElapsed', number>>

/** Ratios of elapsed time, with a share of a core. */
type WaitRatios = Readonly<Record<'cold' | 'first' | 'second' | 'firstToSecond', number>>

/** Pairs of processes: many that make two calls, and some that make many. */
const ROUNDS = 41
const WARM_ROUNDS = 7
const WARM_CALLS = 60
const SHARED_ROUNDS = 7

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
  const ids = Object.keys(COLD_BOUNDS)
  await bundleFunctions(ids, folder)
  const own = (name: string) => ({ [join(name, 'index')]: join('bin/bench', `${name}.ts`) })
  // The SDK's own chain of credentials is one of its defaults.
  await bundle({ ...own('bare-handler'), ...own('bare-sender') }, folder)
  const subjects = await Promise.all(
    ids.map(async (id) => {
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
    const reports = new Map<string, Pair[]>(ids.map((id) => [id, []]))
    for (let round = 0; round < rounds; round++)
      for (const { id, ...pair } of shuffled(pairs)) {
        const report: Partial<Pair> = {}
        for (const which of shuffled(['own', 'bare'] as const))
          report[which] = await pair[which](warmCalls, shareOf?.(id))
        reports.get(id)?.push(report as Pair)
      }
    return [...reports]
  }
  const started = await measure(ROUNDS, 1)
  const warm = new Map(await measure(WARM_ROUNDS, WARM_CALLS))
  const lines = started.map(([id, pairs]) => ({ id, ratios: ratios(pairs, warm.get(id) ?? []) }))
  const shared = await measure(SHARED_ROUNDS, 1, (id) => cpuShare(memoryOf(id)))
  for (const { replay } of subjects) replay.close()
  const waits = shared.map(([id, reports]) => ({ id, ratios: waitRatios(reports) }))
  const failures = lines.flatMap(({ id, ratios: { cold, warm } }) => {
    const bound = COLD_BOUNDS[id] as { cold: number; warm: number }
    return [
      ...(cold > bound.cold ? [`cold ${id}: ${cold.toFixed(2)} x`] : []),
      ...(warm > bound.warm ? [`warm ${id}: ${warm.toFixed(2)} x`] : []),
    ]
  })
  return { section: `${sectionOf(lines)}\n${waitsSection(waits)}`, failures }
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
  const file = (of: string) => join(folder, of, of in COLD_BOUNDS ? 'index.mjs' : 'index.js')
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
    imported: medianRatio(pairs, ({ imported }) => imported.cpuMs),
    first: medianRatio(pairs, ({ first }) => first.cpuMs),
    second: medianRatio(pairs, ({ second }) => second.cpuMs),
    cold: medianRatio(pairs, ({ imported, first }) => imported.cpuMs + first.cpuMs),
    warm: medianRatio(warmPairs, ({ warm }) => total(warm)),
    warmElapsed: medianRatio(warmPairs, ({ warm }) => median(warm.map(({ ms }) => ms))),
  }
}

const waitRatios = (pairs: readonly Pair[]): WaitRatios => ({
  cold: medianRatio(pairs, ({ imported, first }) => imported.ms + first.ms),
  first: medianRatio(pairs, ({ first }) => first.ms),
  second: medianRatio(pairs, ({ second }) => second.ms),
  firstToSecond: median(pairs.map(({ own }) => own.first.ms / own.second.ms)),
})

function shuffled<T>(items: readonly T[]): T[] {
  const order = items.map((item) => ({ item, at: Math.random() })).sort((a, b) => a.at - b.at)
  return order.map(({ item }) => item)
}

const INTRODUCTION = `CPU time of endpoints, as a ratio to a bare handler: the SDK with its defaults, its chain of credentials included,
minified, which makes the same calls of the table, side by side where the endpoint does, and nothing else. The read of an endpoint's
start is part of "import", and of the bare handler's first call. Each ratio is the median of ${ROUNDS} pairs of new processes, or
${WARM_ROUNDS} for warm ones, one after the other on one core, in random order, with replies of a local server, without TLS. The last column is elapsed time.`

const sectionOf = (lines: readonly { id: string; ratios: Ratios }[]): string =>
  [
    INTRODUCTION,
    '',
    '| endpoint | import | first call | import and first call | bound | second call | warm | bound | warm, elapsed |',
    '|---|---:|---:|---:|---:|---:|---:|---:|---:|',
    ...lines.map(({ id, ratios: { imported, first, cold, second, warm, warmElapsed } }) => {
      const bound = COLD_BOUNDS[id] as { cold: number; warm: number }
      const cells = [imported, first, cold, bound.cold, second, warm, bound.warm, warmElapsed]
      return `| ${id} | ${cells.map((cell) => cell.toFixed(2)).join(' | ')} |`
    }),
    '',
  ].join('\n')

const WAITS_INTRODUCTION = `Elapsed time, as a ratio to the bare handler, with the share of a core that the function has by its memory: the median of
${SHARED_ROUNDS} pairs of new processes. A function is started with a whole core, and called with its share. The last column compares
the function's own calls.`

const waitsSection = (lines: readonly { id: string; ratios: WaitRatios }[]): string =>
  [
    WAITS_INTRODUCTION,
    '',
    '| endpoint | memory, MB | start and first call | first call | second call | first call, to second |',
    '|---|---:|---:|---:|---:|---:|',
    ...lines.map(({ id, ratios: { cold, first, second, firstToSecond } }) => {
      const cells = [cold, first, second, firstToSecond]
      return `| ${id} | ${memoryOf(id)} | ${cells.map((cell) => cell.toFixed(2)).join(' | ')} |`
    }),
    '',
  ].join('\n')
