/** Maintenance that a worker of the stack runs: what was started, and how it ended. Its walk has the progress. */
import * as z from 'zod'
import { type Key, TTL } from '../../store/keys/key.ts'
import { findingKey, findingsRange, runKey } from '../../store/keys/operator.ts'
import { ifConditionHolds } from '../../store/table/errors.ts'
import type { Table } from '../../store/table/table.ts'
import { partitionPages } from './partition-pages.ts'

const Task = z.discriminatedUnion('name', [
  /** Verifies every clinic, and repairs nothing. */
  z.strictObject({ name: z.literal('verify') }),
  /** Migrates the table to the formats of the worker's release. `deployedAt` is when the stack was last deployed. */
  z.strictObject({ name: z.literal('migrate'), deployedAt: z.string() }),
  /** Reconciles a restored table. `restore` identifies the restore, and the pause of the table in use. */
  z.strictObject({
    name: z.literal('reconcile'),
    table: z.string().min(3),
    restore: z.string(),
    isSourceLost: z.boolean(),
  }),
])

export type Task = z.output<typeof Task>

const Body = z.strictObject({ run: z.uuid(), task: Task })

/** A message of the queue of maintenance. */
export type QueuedRun = z.output<typeof Body>

/** Parses a queued message. @throws SyntaxError or ZodError if it is malformed */
export const readQueuedRun = (body: string): QueuedRun => Body.parse(JSON.parse(body))

export type ReconcileResult = {
  readonly reconciled: number
  readonly failed: number
  /** Messages that a person has to resolve. */
  readonly held: number
  /** The ids of clinics that the restored table lacks, a thousand at most. */
  readonly missing: readonly string[]
}

export type RunFailure = {
  /** ISO 8601. */
  readonly at: string
  /** The name of the error; with a message if that says nothing about records. */
  readonly text: string
}

export type Run = {
  readonly id: string
  readonly task: Task
  /** ISO 8601. */
  readonly startedAt: string
  /** Whether a verification has read the credentials of the whole table. */
  readonly hasCredentials?: boolean
  /** Undefined until it has ended. */
  readonly result?: unknown
  /** The last failure. The worker repeats what has failed. */
  readonly failure?: RunFailure
  /** Whether a command has printed the result. */
  readonly isShown?: boolean
}

/** What a run found in a clinic: the number of differences by kind, or why it could not do its task there. */
export type ClinicFinding = {
  readonly clinic: string
  readonly kinds: Readonly<Record<string, number>>
  readonly failure?: string
}

const FINDINGS_EXPIRE_AFTER_S = 30 * 24 * 60 * 60

/** The runs of a table: the last one of each task. */
export function maintenanceRuns(table: Table) {
  const find = async (name: Task['name']): Promise<Run | undefined> =>
    (await table.get(runKey(name))) as (Run & Key) | undefined

  /** Replaces the run before: its messages do nothing from now on. */
  async function start(task: Task): Promise<Run> {
    const run = { id: table.newId(), task, startedAt: new Date(table.now()).toISOString() }
    await table.putMany([{ ...runKey(task.name), ...run }])
    return run
  }

  /** Sets attributes of a run, unless it was replaced. */
  async function set({ id, task }: Pick<Run, 'id' | 'task'>, values: Partial<Run>): Promise<void> {
    const names = Object.keys(values)
    const update = table.update(runKey(task.name), {
      UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`)}`,
      ConditionExpression: '#id = :id',
      ExpressionAttributeNames: Object.fromEntries([...names, 'id'].map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: {
        ':id': id,
        ...Object.fromEntries(Object.entries(values).map(([name, value]) => [`:${name}`, value])),
      },
    })
    await ifConditionHolds(update)
  }

  /** Stores what was found in a clinic; again if its page is visited again. */
  async function addFinding({ id, task }: Run, { clinic, ...found }: ClinicFinding): Promise<void> {
    const expiry = Math.floor(table.now() / 1000) + FINDINGS_EXPIRE_AFTER_S
    await table.putMany([{ ...findingKey(task.name, clinic), clinic, run: id, ...found, [TTL]: expiry }])
  }

  /** The clinics in which a run found something, in the order of their ids. */
  async function findings({ id, task }: Run): Promise<ClinicFinding[]> {
    const found: ClinicFinding[] = []
    const { pk, ...range } = findingsRange(task.name)
    for await (const items of partitionPages(table, pk, range))
      for (const item of items) {
        const { run: of, clinic, kinds, failure } = item as typeof item & ClinicFinding & { run: string }
        if (of === id) found.push({ clinic, kinds, ...(failure !== undefined && { failure }) })
      }
    return found
  }

  /** How many items or clinics a walk has read. */
  async function progressAt(key: Key): Promise<number> {
    const segments = ((await table.get(key))?.segments ?? []) as { readonly read: number }[]
    return segments.reduce((sum, { read }) => sum + read, 0)
  }

  return { find, start, set, addFinding, findings, progressAt }
}
