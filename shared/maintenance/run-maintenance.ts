/**
 * Runs the maintenance that a message of the queue names, until a minute before the invocation's time-out. What is left is handed on
 * in another message. A message that is received twice does no harm: the lease of a walk lets one invocation walk at a time, and a
 * run that has ended, or was replaced, is not begun again.
 */
import { clinicStore } from '../store/clinics.ts'
import { walkKey } from '../store/keys/operator.ts'
import type { Table } from '../store/table/table.ts'
import { migrateSearch } from './migrate/migrate-search.ts'
import { migrateTable } from './migrate/migrate-table.ts'
import { MIGRATIONS, type Migration, readTableFormat } from './migrate/migrations.ts'
import { reconcileWithoutSource, reconcileWithSource } from './restore/reconcile.ts'
import { NotPaused } from './restore/restore-pause.ts'
import { noteUnlisted } from './verify/unlisted-credentials.ts'
import { verifyClinic } from './verify/verify-clinic.ts'
import { readableClinic, type Verified, type VerifiedClinic, verifyClinics } from './verify/verify-clinics.ts'
import {
  maintenanceRuns,
  type QueuedRun,
  type ReconcileResult,
  type Run,
  readQueuedRun,
  type Task,
} from './walk/runs.ts'
import type { Scannable } from './walk/sources.ts'
import { StillFound, type WalkOptions, WalkStopped, WalkTaken } from './walk/walk.ts'

/** Milliseconds before the time-out after which no further page is begun. */
const HAND_OVER_MS = 60_000

/** Clinics that are verified at a time. */
const VERIFY_SEGMENTS = 8

/** Missing clinics that the result of a reconciliation names: the result is one item. */
const MAX_NAMED = 1000

export type Maintenance = {
  readonly client: Scannable['client']
  /** The table of the stack. */
  readonly tableName: string
  readonly openTable: (name: string) => Table
  /** Sends a message to the queue. */
  readonly push: (queued: QueuedRun) => Promise<unknown>
  readonly migrations?: readonly Migration[]
  /** Options of the verification of a clinic, for tests. */
  readonly pauseMs?: number
}

/**
 * @param remainingMs until the invocation's time-out
 * @throws any error of the task, after it was stored for the operator
 */
export async function runMaintenance(
  maintenance: Maintenance,
  body: string,
  remainingMs: () => number,
): Promise<void> {
  const queued = readQueuedRun(body)
  const { run: id, task } = queued
  const { tableName, openTable, push } = maintenance
  const runs = maintenanceRuns(openTable(task.name === 'reconcile' ? task.table : tableName))
  const run = await runs.find(task.name)
  if (run?.id !== id || run.result !== undefined) return
  const end = (result: unknown) => runs.set(run, { result })
  try {
    const options = { mustStop: () => remainingMs() < HAND_OVER_MS }
    await perform(maintenance, task, { run, options, end, runs })
  } catch (error) {
    // Another invocation may walk for a run that this one has replaced, and then not continue this one.
    if (error instanceof WalkStopped || error instanceof WalkTaken) {
      await push(queued)
      return
    }
    await runs.set(run, { failure: { at: new Date().toISOString(), text: describe(error) } })
    throw error
  }
}

const describe = (error: unknown): string => {
  if (error instanceof StillFound || error instanceof NotPaused) return error.message
  return error instanceof Error ? error.name : typeof error
}

type Context = {
  readonly run: Run
  readonly options: Pick<WalkOptions, 'mustStop'>
  readonly end: (result: unknown) => Promise<void>
  readonly runs: ReturnType<typeof maintenanceRuns>
}

async function perform(maintenance: Maintenance, task: Task, context: Context): Promise<unknown> {
  if (task.name === 'migrate') return migrate(maintenance, task, context)
  if (task.name === 'reconcile') return reconcile(maintenance, task, context)
  return verify(maintenance, context)
}

/** Stores that a clinic failed. @throws the error if the worker may not do this: then no clinic succeeds */
async function addFailure(runs: Context['runs'], run: Run, clinic: string, error: Error): Promise<void> {
  if (error.name === 'AccessDeniedException') throw error
  await runs.addFinding(run, { clinic, kinds: {}, failure: describe(error) })
}

async function verify(
  { client, openTable, tableName, pauseMs }: Maintenance,
  { run, options, end, runs }: Context,
): Promise<unknown> {
  const table = openTable(tableName)
  const progress = { table, key: walkKey('maintain', 'verify') }
  if (!run.hasCredentials) {
    await noteUnlisted({ table, client, name: tableName, ...options }, 'verify')
    await runs.set(run, { hasCredentials: true })
  }
  const verifyOne = async ({ id: clinic }: VerifiedClinic): Promise<number> => {
    const kinds: Record<string, number> = {}
    const { differences } = await verifyClinic(table, clinic, {
      repair: false,
      ...(pauseMs !== undefined && { pauseMs, gracePeriodMs: 0 }),
      onDifference: ({ kind }) => {
        kinds[kind] = (kinds[kind] ?? 0) + 1
      },
    })
    if (differences === 0) return 0
    // What is missing of a clinic whose deletion has begun since is no difference.
    const current = await readableClinic(clinic, () => clinicStore({ table }).findListed(clinic))
    if (current?.deletingAt !== undefined || !current) return 0
    await runs.addFinding(run, { clinic, kinds })
    return differences
  }
  return verifyClinics(
    table,
    {
      progress,
      subject: run.id,
      segments: VERIFY_SEGMENTS,
      ...options,
      onClinicFailed: (clinic, error) => addFailure(runs, run, clinic, error),
      onFinish: async (result) => {
        const { remaining, failed } = result as Verified
        const { stray } = await clinicStore({ table }).directory()
        for (const clinic of stray) await runs.addFinding(run, { clinic, kinds: { directory_stray: 1 } })
        await end({ remaining: remaining + stray.length, failed })
      },
    },
    verifyOne,
  )
}

async function migrate(
  { client, openTable, tableName, migrations = MIGRATIONS }: Maintenance,
  { deployedAt }: Extract<Task, { name: 'migrate' }>,
  { options, end }: Context,
): Promise<void> {
  const table = openTable(tableName)
  // One after the other: each reads the format before it.
  for (const migration of migrations)
    await migrateTable({ table, client, name: tableName, deployedAt, ...options }, migration)
  const { failed } = await migrateSearch(table, options)
  await end({ format: await readTableFormat(table), ...(failed > 0 && { failed }) })
}

async function reconcile(
  { openTable, tableName }: Maintenance,
  { table: name, restore, isSourceLost }: Extract<Task, { name: 'reconcile' }>,
  { run, options, end, runs }: Context,
): Promise<unknown> {
  if (name === tableName) throw new Error('The stack uses this table.')
  const restored = openTable(name)
  const onFinish = async (result: unknown) => {
    const { reconciled, failed, missing, held } = result as Awaited<ReturnType<typeof reconcileWithSource>>
    const ended: ReconcileResult = {
      ...{ reconciled, failed, held },
      missing: missing.slice(0, MAX_NAMED).map(({ id }) => id),
    }
    await end(ended)
  }
  const all = {
    now: Date.now,
    restore,
    ...options,
    onClinicFailed: (clinic: string, error: Error) => addFailure(runs, run, clinic, error),
    onFinish,
  }
  return isSourceLost
    ? reconcileWithoutSource(restored, all)
    : reconcileWithSource({ source: openTable(tableName), restored }, all)
}
