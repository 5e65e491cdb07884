/**
 * Processes that are killed at random, between any two calls of the table, ten times for each command that walks. Each continues
 * where the one before was killed, and nothing is done twice that must not be. The same for invocations of the worker, of which others
 * are near their time-out. `npm run prove` has ten thousand clinics.
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { removeClinic } from '../../../../bin/clinic/clinics/clinic-removal.ts'
import { mulberry32 } from '../../../../bin/demo/random.ts'
import type { Clinic, ClinicId } from '../../../../shared/domain/clinic.ts'
import { migrateTable } from '../../../../shared/maintenance/migrate/migrate-table.ts'
import { type Migration, readTableFormat } from '../../../../shared/maintenance/migrate/migrations.ts'
import { reconcileWithSource } from '../../../../shared/maintenance/restore/reconcile.ts'
import { beginRestorePause } from '../../../../shared/maintenance/restore/restore-pause.ts'
import { runMaintenance } from '../../../../shared/maintenance/run-maintenance.ts'
import { verifyClinic } from '../../../../shared/maintenance/verify/verify-clinic.ts'
import { verifyClinics } from '../../../../shared/maintenance/verify/verify-clinics.ts'
import {
  maintenanceRuns,
  type QueuedRun,
  type Run,
  type Task,
} from '../../../../shared/maintenance/walk/runs.ts'
import { clinicStore } from '../../../../shared/store/clinics.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { shortId } from '../../../../shared/store/keys/key.ts'
import { walkKey } from '../../../../shared/store/keys/operator.ts'
import { patientHeadKey } from '../../../../shared/store/keys/patients.ts'
import { messageStore } from '../../../../shared/store/messages/messages.ts'
import { mapConcurrent } from '../../../../shared/store/table/map-concurrent.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { Item } from '../../../../shared/store/table/write-requests.ts'
import { allItems } from '../../../support/all-items.ts'
import { Crashed, crashable, crashableTable } from '../../../support/crashable-table.ts'
import { createAcceptedEmail } from '../../../support/emails.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'
import { restored } from '../../../support/restored.ts'
import { rounds } from '../../../support/scale.ts'
import { freshTable, newClinic, type TestTable } from '../../../support/table.ts'

const CLINICS = rounds(60, 10_000)
const KILLS = 10
/** One clinic in so many has records; the others have none. */
const POPULATED_EVERY = 20
const PAGE = rounds(5, 500)
/** More than the lease. */
const BETWEEN_RUNS_MS = 60_000
/** Clinics or pages that a killed process can have been in. */
const SEGMENTS = 8

const seed = Number(process.env.SEED ?? 20261123)
const random = mulberry32(seed)

type World = {
  readonly source: TestTable
  readonly target: TestTable
  readonly populated: PopulatedClinic[]
  /** The pause of the source. */
  readonly restore: string
}

/** A process, until it is killed: its tables and its scans. */
type Process = {
  readonly open: (db: TestTable) => Table
  readonly scan: (db: TestTable, limit?: number) => Pick<DynamoDBDocumentClient, 'send'>
}

/** Clinics in a table and in its restored copy. Half of those with records have an email since, and half erased their patient. */
async function createWorld(clinics: number): Promise<World> {
  const source = await freshTable()
  const every = Array.from({ length: clinics }, (_, index) => index)
  const populated: PopulatedClinic[] = []
  await mapConcurrent(8, every, async (index) => {
    if (index % POPULATED_EVERY > 0) await newClinic(source.table)
    else populated.push(await createPopulatedClinic(source.table))
  })
  const target = await restored(source)
  for (const [index, { clinic, patient }] of populated.entries()) {
    if (index % 2 === 0) await createAcceptedEmail(source.table, clinic, patient, Date.now())
    else await patientChanges(source.table).erase(clinic.id, patient.id, { operator: 'eva' })
  }
  const restore = await beginRestorePause(source.table, target.name, async () => {})
  return { source, target, populated, restore }
}

/** Counts what each clinic is visited for. */
function visitCounter() {
  const visits = new Map<string, number>()
  return {
    count: (id: string) => void visits.set(id, (visits.get(id) ?? 0) + 1),
    clinics: () => visits.size,
    /** Visits of clinics that had been visited before. */
    repeated: () => [...visits.values()].reduce((sum, count) => sum + count - 1, 0),
  }
}

const settle =
  ({ source, target, restore }: World, onClinic: (id: string) => void) =>
  ({ open }: Process) =>
    reconcileWithSource(
      { source: open(source), restored: open(target) },
      { restore, now: Date.now, onClinic: ({ clinic }) => onClinic(clinic.id) },
    )

async function countDifferences(table: Table, clinic: ClinicId): Promise<number> {
  const options = { repair: false, pauseMs: 1, gracePeriodMs: 0, onDifference: () => {} }
  return (await verifyClinic(table, clinic, options)).differences
}

const verifyAll =
  ({ target }: World, onClinic: (id: string) => void) =>
  ({ open }: Process) => {
    const table = open(target)
    return verifyClinics(table, { progress: { table, key: walkKey('read', 'verify') } }, async ({ id }) => {
      onClinic(id)
      return countDifferences(table, id)
    })
  }

/** Counts how often an item was migrated. */
const counting: Migration = {
  format: 1,
  summary: 'the heads of the lists of patients count migrations',
  concerns: ({ pk, sk }) => pk.endsWith('#PH') && sk === 'head',
  migrate: (item) => ({ ...item, migrations: ((item.migrations as number | undefined) ?? 0) + 1 }),
}

const migrate =
  ({ target }: World) =>
  ({ open, scan }: Process) =>
    migrateTable({ table: open(target), client: scan(target, PAGE), name: target.name }, counting)

const deletion =
  ({ target }: World, clinic: Clinic) =>
  ({ open, scan }: Process) =>
    removeClinic(
      {
        table: open(target),
        // Whole pages: the engine ends a segment after a page whose last item was deleted, as DynamoDB does not.
        client: scan(target),
        name: target.name,
        operator: 'eva',
        sleep: async () => {},
      },
      clinic,
    )

let clock = 0

/** Runs a command in a process that is killed at its call with this number. Returns undefined for the killed one. */
async function run<Result>(command: (process: Process) => Promise<Result>, lastCall: number) {
  let calls = 0
  const isKilled = () => ++calls > lastCall
  clock += BETWEEN_RUNS_MS
  const now = () => Date.now() + clock
  const result = await command({
    open: ({ table }) => crashableTable({ ...table, now }, isKilled),
    scan: ({ client }, Limit) => ({
      send: crashable((scan: { input: object }) => {
        Object.assign(scan.input, { Limit })
        return client.send(scan as never)
      }, isKilled) as never,
    }),
  }).catch((error) => {
    if (error instanceof Crashed) return undefined
    throw error
  })
  return { result, calls }
}

/** The calls of a command that is not killed, in a world of its own. */
const callsOf = async (command: (process: Process) => Promise<unknown>) =>
  (await run(command, Number.POSITIVE_INFINITY)).calls

/** Runs a command until it ends, after it was killed ten times. Together, these get about half as far as the whole. */
async function runKilled<Result>(
  name: string,
  command: (process: Process) => Promise<Result>,
  calls: number,
) {
  const started = performance.now()
  let total = 0
  for (let kills = 0; kills < KILLS; kills++) {
    const killed = await run(command, 1 + Math.floor((random() * calls) / KILLS))
    expect(killed.result, `${name}, seed ${seed}, run ${kills + 1}`).toBeUndefined()
    total += killed.calls
  }
  const { result, calls: rest } = await run(command, Number.POSITIVE_INFINITY)
  const seconds = ((performance.now() - started) / 1000).toFixed(0)
  process.stdout.write(
    `${name}, seed ${seed}: ${CLINICS} clinics, ${KILLS} kills, ${total} + ${rest} calls, ${seconds} s\n`,
  )
  return result as Result
}

/** How often pages may begin before an invocation is near its time-out: more often than there are segments. */
const drawPages = () => SEGMENTS + 1 + Math.floor((random() * CLINICS) / 4)

/**
 * Runs a task by messages of the queue. Ten invocations are killed at random, after which their message is received again; the others
 * end with the task, or near their time-out.
 */
async function runQueued(task: Task, db: TestTable, world: World, calls: number) {
  const started = performance.now()
  const runs = maintenanceRuns(db.table)
  const { id } = await runs.start(task)
  const queue: QueuedRun[] = [{ run: id, task }]
  const names = new Map([world.source, world.target].map((each) => [each.name, each]))
  const invoke = (message: QueuedRun, lastCall: number) => {
    let pages = drawPages()
    return run(async (process) => {
      const maintenance = {
        tableName: (task.name === 'reconcile' ? world.source : world.target).name,
        client: process.scan(world.target, PAGE),
        openTable: (name: string) => process.open(names.get(name) as TestTable),
        push: async (next: QueuedRun) => queue.push(next),
        migrations: [counting],
        pauseMs: 1,
      }
      await runMaintenance(maintenance, JSON.stringify(message), () => (pages-- > 0 ? 900_000 : 59_999))
      return 'ended'
    }, lastCall)
  }
  let kills = 0
  let invocations = 0
  let total = 0
  for (let message = queue.shift(); message; message = queue.shift()) {
    const lastCall = kills < KILLS ? 1 + Math.floor((random() * calls) / KILLS) : Number.POSITIVE_INFINITY
    const { result, calls: made } = await invoke(message, lastCall)
    invocations++
    total += made
    if (result !== 'ended') {
      kills++
      queue.unshift(message)
    }
  }
  const ended = await runs.find(task.name)
  const { calls: again } = await invoke({ run: id, task }, Number.POSITIVE_INFINITY)
  // It reads the run. A call counts twice: before it, and after it.
  expect([again, queue], 'a message that is received again does nothing').toEqual([2, []])
  const seconds = ((performance.now() - started) / 1000).toFixed(0)
  process.stdout.write(
    `${task.name} by the queue, seed ${seed}: ${CLINICS} clinics, ${kills} kills, ${invocations} invocations, ${total} calls, ${seconds} s\n`,
  )
  expect(kills, `seed ${seed}`).toBe(KILLS)
  return { result: ended?.result, findings: await runs.findings(ended as Run), invocations }
}

const SMALL = 40
let small: World
let world: World
let queued: World
beforeAll(async () => {
  small = await createWorld(SMALL)
  world = await createWorld(CLINICS)
  queued = await createWorld(CLINICS)
}, 3_600_000)
afterAll(() => {
  for (const { source, target } of [small, world, queued])
    for (const { client } of [source, target]) client.destroy()
})

it('settles every clinic of a restored table', async () => {
  const calls = await callsOf(settle(small, () => {}))
  const visits = visitCounter()
  const settled = await runKilled('settlement', settle(world, visits.count), (calls * CLINICS) / SMALL)
  expect(settled).toMatchObject({ reconciled: CLINICS, failed: 0, missing: [] })
  expect(visits.clinics()).toBe(CLINICS)
  expect(visits.repeated()).toBeLessThanOrEqual(KILLS * SEGMENTS)
  for (const { clinic, patient } of world.populated.slice(0, 20)) {
    const idsIn = async (table: Table) =>
      (await messageStore({ table }).allOf(clinic.id, 'patient', patient.id)).map(({ id }) => id)
    expect(await idsIn(world.target.table)).toEqual(await idsIn(world.source.table))
  }
})

it('verifies every clinic, and counts what was found by those that were killed', async () => {
  const calls = await callsOf(verifyAll(small, () => {}))
  const ids = (await clinicStore(world.target).list()).map(({ id }) => id).toSorted()
  // The first clinic is verified before most kills, and the last one after all.
  const damaged = [ids[0], ids.at(-1)] as ClinicId[]
  const found = await mapConcurrent(1, damaged, async (id) => {
    const head = await world.target.table.get(patientHeadKey(id))
    await world.target.table.putMany([{ ...(head as Item), u: -1 }])
    return countDifferences(world.target.table, id)
  })
  expect(Math.min(...found)).toBeGreaterThan(0)
  const visits = visitCounter()
  const verified = await runKilled('verify --all', verifyAll(world, visits.count), (calls * CLINICS) / SMALL)
  const differences = found.reduce((sum, count) => sum + count)
  expect([verified, visits.clinics()]).toEqual([{ remaining: differences, failed: 0 }, CLINICS])
  expect(visits.repeated()).toBeLessThanOrEqual(KILLS)
})

it('migrates every item once, and records the format', async () => {
  const calls = await callsOf(migrate(small))
  const { passes } = await runKilled('migration', migrate(world), (calls * CLINICS) / SMALL)
  expect(passes).toBe(2)
  const heads = (await allItems(world.target)).filter(counting.concerns)
  expect(heads.length).toBe(CLINICS)
  expect(heads.filter(({ migrations }) => migrations !== 1)).toEqual([])
  expect(await readTableFormat(world.target.table)).toBe(1)
})

it('deletes one clinic, and nothing of others', async () => {
  const [first, second] = [small.populated[0] as PopulatedClinic, world.populated[0] as PopulatedClinic]
  const calls = await callsOf(deletion(small, first.clinic))
  const { clinic } = second
  const isOf = ({ pk, sk }: { pk: string; sk: string }) =>
    `${pk} ${sk}`.includes(shortId(clinic.id)) || sk === clinic.id
  const others = (await allItems(world.target)).filter((item) => !isOf(item)).length
  expect(await runKilled('deletion', deletion(world, clinic), calls)).toBeGreaterThan(20)
  const after = await allItems(world.target)
  expect(after.filter(isOf).map(({ pk }) => pk)).toEqual(['erasure#clinics'])
  expect(after.filter((item) => !isOf(item)).length).toBe(others)
})

describe('the worker', () => {
  const scaled = (calls: number) => (calls * CLINICS) / SMALL

  it('settles every clinic of a restored table', async () => {
    const calls = scaled(await callsOf(settle(small, () => {})))
    const task = {
      name: 'reconcile',
      table: queued.target.name,
      restore: queued.restore,
      isSourceLost: false,
    } as const
    const { result, invocations } = await runQueued(task, queued.target, queued, calls)
    expect(result).toMatchObject({ reconciled: CLINICS, failed: 0, missing: [] })
    expect(invocations).toBeGreaterThan(KILLS)
    for (const { clinic, patient } of queued.populated.slice(0, 20)) {
      const idsIn = async (table: Table) =>
        (await messageStore({ table }).allOf(clinic.id, 'patient', patient.id)).map(({ id }) => id)
      expect(await idsIn(queued.target.table)).toEqual(await idsIn(queued.source.table))
    }
  })

  it('verifies every clinic, and stores what it found by clinic', async () => {
    const calls = scaled(await callsOf(verifyAll(small, () => {})))
    const { table } = queued.target
    const ids = (await clinicStore({ table }).list()).map(({ id }) => id).toSorted()
    const damaged = [ids[0], ids.at(-1)] as ClinicId[]
    for (const id of damaged)
      await table.putMany([{ ...((await table.get(patientHeadKey(id))) as Item), u: -1 }])
    const { result, findings } = await runQueued({ name: 'verify' }, queued.target, queued, calls)
    expect(findings.map(({ clinic }) => clinic)).toEqual(damaged)
    const kinds = findings.flatMap((finding) => Object.values(finding.kinds))
    expect(result).toEqual({ remaining: kinds.reduce((sum, count) => sum + count), failed: 0 })
  })

  it('migrates every item once, and records the format', async () => {
    const calls = 40 + CLINICS / PAGE
    const { result } = await runQueued({ name: 'migrate', deployedAt: '' }, queued.target, queued, calls)
    expect(result).toEqual({ format: 1 })
    const heads = (await allItems(queued.target)).filter(counting.concerns)
    expect(heads.filter(({ migrations }) => migrations !== 1)).toEqual([])
    expect(await readTableFormat(queued.target.table)).toBe(1)
  })
})
