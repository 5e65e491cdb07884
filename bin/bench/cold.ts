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

/** The medians of all processes of one handler, in milliseconds; CPU time unless the name says otherwise. */
type Figures = Readonly<Record<'imported' | 'first' | 'second' | 'cold' | 'warm' | 'warmElapsed', number>>

/** The median of the elapsed time of the calls of all processes with a share of a core, in milliseconds. */
type Waits = { readonly first: number; readonly second: number }

const ROUNDS = 9
const SHARED_ROUNDS = 5
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
  const ids = Object.keys(COLD_BOUNDS)
  await bundleFunctions(ids, folder)
  const own = (name: string) => ({ [join(name, 'index')]: join('bin/bench', `${name}.ts`) })
  // The SDK's own chain of credentials is one of its defaults.
  await bundle({ ...own('bare-handler'), ...own('bare-sender'), ...own('measured-process') }, folder, [])
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
  const runs: {
    id: string
    isBare: boolean
    run: (warmCalls: number, share?: number) => Promise<ProcessReport>
  }[] = []
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
    runs.push({ id, isBare: false, run: (warmCalls, share) => run(id, warmCalls, calls, share) })
    runs.push({ id, isBare: true, run: (warmCalls, share) => run(bare, warmCalls, calls, share) })
  }
  const measure = async (rounds: number, warmCalls: number, shareOf?: (id: string) => number) => {
    const reports: { id: string; isBare: boolean; report: ProcessReport }[] = []
    for (let round = 0; round < rounds; round++)
      for (const { run, id, isBare } of shuffled(runs))
        reports.push({ id, isBare, report: await run(warmCalls, shareOf?.(id)) })
    return (id: string, isBare: boolean) =>
      reports.filter((one) => one.id === id && one.isBare === isBare).map(({ report }) => report)
  }
  const reports = await measure(ROUNDS, WARM_CALLS)
  const figures = (id: string, isBare: boolean) => figuresOf(reports(id, isBare))
  const lines = ids.map((id) => ({ id, ratios: ratios(figures(id, false), figures(id, true)) }))
  const shared = await measure(SHARED_ROUNDS, 1, (id) => cpuShare(memoryOf(id)))
  for (const { replay } of subjects) replay.close()
  const waits = ids.map((id) => ({
    id,
    own: waitsOf(shared(id, false)),
    bare: waitsOf(shared(id, true)),
  }))
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
  const file = (of: string) => join(folder, of, 'index.js')
  const args = [
    '-c',
    CORE,
    process.execPath,
    file('measured-process'),
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

function figuresOf(reports: readonly ProcessReport[]): Figures {
  const medianOf = (value: (report: ProcessReport) => number) => median(reports.map(value))
  const mean = (laps: readonly Lap[]) => laps.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / laps.length
  return {
    imported: medianOf(({ imported }) => imported.cpuMs),
    first: medianOf(({ first }) => first.cpuMs),
    second: medianOf(({ second }) => second.cpuMs),
    cold: medianOf(({ imported, first }) => imported.cpuMs + first.cpuMs),
    warm: medianOf(({ warm }) => mean(warm)),
    warmElapsed: medianOf(({ warm }) => median(warm.map(({ ms }) => ms))),
  }
}

const waitsOf = (reports: readonly ProcessReport[]): Waits => ({
  first: median(reports.map(({ first }) => first.ms)),
  second: median(reports.map(({ second }) => second.ms)),
})

const ratios = (own: Figures, bare: Figures): Figures =>
  Object.fromEntries(
    Object.entries(own).map(([name, value]) => [name, value / bare[name as keyof Figures]]),
  ) as Figures

function shuffled<T>(items: readonly T[]): T[] {
  const order = items.map((item) => ({ item, at: Math.random() })).sort((a, b) => a.at - b.at)
  return order.map(({ item }) => item)
}

const INTRODUCTION = `CPU time of endpoints, as a ratio to a bare handler: the SDK with its defaults, its chain of credentials included,
minified, which makes the same calls of the table, side by side where the endpoint does, and nothing else. Each measurement is the median of ${ROUNDS} new processes in random order, on one
core, with replies of a local server, without TLS. The last column is elapsed time.`

const sectionOf = (lines: readonly { id: string; ratios: Figures }[]): string =>
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

const WAITS_INTRODUCTION = `Elapsed time of calls, import excluded, with the share of a core that the function has by its memory: the median of
${SHARED_ROUNDS} new processes. A function is started with a whole core, and called with its share.`

const waitsSection = (lines: readonly { id: string; own: Waits; bare: Waits }[]): string =>
  [
    WAITS_INTRODUCTION,
    '',
    '| endpoint | memory, MB | first call, to bare | second call, to bare | first call, to second |',
    '|---|---:|---:|---:|---:|',
    ...lines.map(({ id, own, bare }) => {
      const cells = [own.first / bare.first, own.second / bare.second, own.first / own.second]
      return `| ${id} | ${memoryOf(id)} | ${cells.map((cell) => cell.toFixed(2)).join(' | ')} |`
    }),
    '',
  ].join('\n')
