/**
 * docs/examples/clinic-system.ts keeps its database and the API the same, while staff and a portal change both at random. The program is
 * killed, and its requests lose their responses. So is the API: `npm start` with its functions, queues and DynamoDB engine, whose file is
 * all that the next start finds.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, rmSync } from 'node:fs'
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { spawnEndingWithParent } from '../../infra/local/process/end-with-parent.ts'
import { createClient } from '../../shared/clients/typescript/client.ts'
import { addDays } from '../../shared/domain/clock.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'
import { runProgram } from '../conformance/run-program.ts'
import { clientPackage } from '../support/client-package.ts'
import { issueCredential } from '../support/credentials.ts'
import { testClient } from '../support/dynamodb/test-client.ts'
import { seeded } from '../support/random.ts'
import { rounds } from '../support/scale.ts'
import { newClinic } from '../support/table.ts'

const CHANGES = rounds(60, 1000)
const API_KILLS = rounds(2, 40)
const FOLDER = join('.local', `clinic-system-${process.pid}`)
const DATABASE = join(FOLDER, 'clinic.db')

let api: ChildProcess
let baseUrl: string
let table: Table

/** Starts the API on the port that it had before, and waits until it is ready. */
async function startApi(port = new URL(baseUrl).port): Promise<void> {
  const options = ['--no-demo', '--json', '--port', port, '--data', resolve(FOLDER, 'data')]
  api = spawnEndingWithParent(process.execPath, ['bin/local.ts', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: api.stdout as Readable })[Symbol.asyncIterator]()
  baseUrl = JSON.parse((await lines.next()).value ?? '').base_url
}
async function endApi(signal: NodeJS.Signals): Promise<void> {
  if (api.kill(signal)) await once(api, 'close')
}

beforeAll(async () => {
  cpSync('docs/examples/clinic-system.ts', join(FOLDER, 'clinic-system.ts'))
  cpSync(await clientPackage(), join(FOLDER, 'node_modules/clinic-developer-client'), { recursive: true })
  await startApi('0')
  const { endpoints, outputs } = (await (await fetch(`${baseUrl}/_local`)).json()) as Fields
  table = openTable(testClient(endpoints.dynamodb), outputs.TableName)
}, 300_000)
afterAll(async () => {
  await endApi('SIGTERM')
  rmSync(FOLDER, { recursive: true, force: true })
})

type Fields = Record<string, any>
type Row = { entity: string; external_id: string; id: string | null; fields: Fields; conflict: string | null }

/** Passes requests on. Of some, the connection ends before the API has them, or after it has answered them. */
async function lossyProxy(isLost: () => boolean): Promise<string> {
  const server = createServer((received, response) => {
    if (isLost()) return received.socket.destroy()
    const { method, headers, url } = received
    const sent = forward(`${baseUrl}${url}`, { method, headers }, (answer) => {
      if (isLost()) return received.socket.destroy()
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.on('error', () => received.socket.destroy()).pipe(response)
    })
    sent.on('error', () => received.socket.destroy())
    received.pipe(sent)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/developer/v1`
}

it('at rest, each record is the same in both, or in the list of conflicts, and none is doubled or under another person', async () => {
  const seed = Number(process.env.SEED ?? 7)
  const random = seeded(seed)
  const clinic = await newClinic(table)
  const credential = async () => {
    const { key, secret } = await issueCredential(table, clinic, undefined, null, 100_000)
    return `${key}:${secret}`
  }
  const portal = createClient({ baseUrl, credential: await credential() })
  const day = [{ start_time: '00:00', end_time: '23:59' }]
  const week = Object.fromEntries(
    ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((name) => [name, day]),
  )
  const doctor_id = (await portal.doctors.create({ full_name: 'Dr. Ada Kaya', hours: week })).data.id

  let isCalm = false
  const API = await lossyProxy(() => !isCalm && random.chance(0.03))
  const env = { ...process.env, API, CREDENTIAL: await credential(), DATABASE, INTERVAL_MS: '50' }
  const program = join(FOLDER, 'clinic-system.ts')
  let errors = ''
  const start = () => {
    const started = spawn(process.execPath, [program], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    started.stderr?.on('data', (text) => {
      errors += text
    })
    return started
  }
  const run = (...args: string[]) => runProgram(process.execPath, [program, ...args], { environment: env })
  expect((await run('conflicts')).errors).toBe('')
  let running = start()
  const kill = async () => {
    if (running.exitCode !== null || running.signalCode !== null) return
    running.kill('SIGKILL')
    await once(running, 'close')
  }

  using database = new DatabaseSync(DATABASE)
  database.exec('PRAGMA busy_timeout = 20000')
  const rows = (entity?: string): Row[] =>
    database
      .prepare('SELECT * FROM records')
      .all()
      .map((row) => ({ ...row, fields: JSON.parse(String(row.fields)) }) as Row)
      .filter((row) => entity === undefined || row.entity === entity)
  const write = (entity: string, external_id: string, fields: Fields) =>
    database
      .prepare(
        `INSERT INTO records (entity, external_id, fields) VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET fields = json_patch(fields, excluded.fields), revision = revision + 1`,
      )
      .run(entity, external_id, JSON.stringify(fields))

  let [made, kills] = [0, 0]
  const anyOf = <T>(items: readonly T[]): T | undefined =>
    items[random.integer(0, Math.max(0, items.length - 1))]
  const newPatient = () => ({ first_name: 'Pat', last_name: `No. ${++made}`, date_of_birth: '1984-03-12' })
  const phone = () => `+90532${String(random.integer(1_000_000, 9_999_999))}`
  const time = () => {
    const start = `${String(random.integer(0, 22)).padStart(2, '0')}:00`
    return { appointment_date: addDays('2031-01-01', random.integer(0, 60)), start_time: start }
  }
  /** Notes name the patient whom the appointment is for. */
  const staffVisit = () => {
    const patient = anyOf(rows('patients'))
    if (!patient) return
    const { appointment_date, start_time } = time()
    write('appointments', `A-${++made}`, {
      ...{ patient_external_id: patient.external_id, doctor_id, appointment_date, start_time },
      ...{ end_time: start_time.replace(':00', ':30'), status: 'scheduled', notes: patient.fields.last_name },
    })
  }
  const known = (entity: string) => anyOf(rows(entity).filter(({ id }) => id !== null))
  const portalVisit = async () => {
    const patient = known('patients')
    const notes = patient?.fields.last_name
    if (patient?.id) await portal.appointments.book({ patient_id: patient.id, doctor_id, ...time(), notes })
  }
  const changes: (() => unknown)[] = [
    () => write('patients', `P-${made + 1}`, newPatient()),
    () => portal.patients.create(newPatient()),
    staffVisit,
    staffVisit,
    portalVisit,
    portalVisit,
    () => {
      const patient = anyOf(rows('patients'))
      if (patient) write('patients', patient.external_id, { phone_number: phone() })
    },
    async () => {
      const patient = known('patients')
      if (patient?.id) await portal.patients.update(patient.id, { phone_number: phone() })
    },
    () => {
      const visit = anyOf(rows('appointments'))
      if (visit) write('appointments', visit.external_id, { status: 'cancelled' })
    },
    async () => {
      const visit = known('appointments')
      if (visit?.id && visit.fields.status === 'scheduled') await portal.appointments.update(visit.id, time())
    },
    async () => {
      kills++
      await kill()
      running = start()
    },
  ]
  const killsOfApi = new Set(Array.from({ length: API_KILLS }, () => random.integer(0, CHANGES - 1)))
  let starting = Promise.resolve()
  for (let change = 0; change < CHANGES; change++) {
    // The portal's requests are rejected where staff were first.
    const changing = Promise.resolve(anyOf(changes)?.()).catch((error: Error) =>
      expect(error.name).toMatch(/Conflict|Validation|ConnectionFailed/),
    )
    if (killsOfApi.has(change)) {
      await starting
      await sleep(random.integer(0, 50))
      await endApi('SIGKILL')
      starting = startApi()
      // Staff and the program go on.
      if (random.chance(0.5)) await starting
    }
    await changing
    if (random.chance(0.3)) await sleep(random.integer(0, 300))
    if (running.exitCode !== null) running = start()
  }

  await starting
  isCalm = true
  await kill()
  errors = ''
  running = start()
  const states = 'SELECT count(*) AS n FROM records WHERE revision > sent AND conflict IS NULL'
  let before = ''
  const isAtRest = async () => {
    await sleep(1000)
    expect([running.exitCode, errors]).toEqual([null, ''])
    const after = JSON.stringify([database.prepare('SELECT * FROM records').all()])
    const isSame = after === before && database.prepare(states).get()?.n === 0
    before = after
    return isSame
  }
  await expect.poll(isAtRest, { timeout: 300_000 }).toBe(true)
  await kill()
  await run('compare')

  const shown = (await run('conflicts')).printed
  const all = new Map<string, Fields>()
  for await (const patient of portal.patients.all()) all.set(patient.id, patient)
  const patients = new Map(all)
  for await (const visit of portal.appointments.all()) all.set(visit.id, visit)
  const local = rows()
  const ids = local.flatMap(({ id }) => (id === null ? [] : [id]))
  expect([new Set(ids).size, new Set(ids)]).toEqual([ids.length, new Set(all.keys())])
  expect([...patients.values()].map(({ last_name }) => last_name).toSorted()).toEqual(
    [...new Set([...patients.values()].map(({ last_name }) => last_name))].toSorted(),
  )
  const byExternalId = new Map(local.map((row) => [row.external_id, row]))
  for (const { entity, external_id, id, fields, conflict } of local) {
    if (conflict !== null) expect(shown).toContain(`${entity} ${external_id}: ${conflict}`)
    const record = all.get(id ?? '')
    if (!record) expect(conflict).not.toBeNull()
    else if (entity === 'appointments') {
      const owner = patients.get(record.patient.id)
      expect([owner?.last_name, byExternalId.get(fields.patient_external_id)?.id]).toEqual([
        record.notes,
        owner?.id,
      ])
    }
    if (!record || conflict !== null) continue
    const { patient_external_id: _, doctor_id: __, ...same } = fields
    expect(record).toMatchObject({ ...same, external_id })
  }
  const conflicts = local.filter(({ conflict }) => conflict !== null).length
  const counts = { seed, kills, killsOfApi: killsOfApi.size, records: all.size, conflicts }
  process.stdout.write(`${JSON.stringify(counts)}\n`)
}, 3_000_000)
