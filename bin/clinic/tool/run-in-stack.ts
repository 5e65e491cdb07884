import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import { maintenanceQueue } from '../../../shared/maintenance/walk/maintenance-queue.ts'
import {
  type ClinicFinding,
  maintenanceRuns,
  type Run,
  type Task,
} from '../../../shared/maintenance/walk/runs.ts'
import type { Key } from '../../../shared/store/keys/key.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { connectQueues } from './connection.ts'
import { CommandFailure, counted, EXIT, printProgress } from './output.ts'

/** Milliseconds between two reads of the progress, and between two lines about it. */
const POLL_MS = 1000
const LINE_MS = 10_000

type Followed = {
  /** The table that the task works on, where its run is stored. */
  readonly table: Table
  readonly task: Task
  /** Where its walks store their progress. */
  readonly progress: readonly Key[]
  /** What a walk reads. */
  readonly noun: string
  readonly restart?: boolean
}

/**
 * Starts a task in a worker of the stack, and waits for its end. The command may be stopped, and run again: it follows the same run,
 * or returns what that found.
 * @throws CommandFailure if the worker failed, or another command has begun the task again
 */
export async function runInStack(
  command: Command,
  { table, task, progress, noun, restart = false }: Followed,
): Promise<{ result: unknown; findings: readonly ClinicFinding[] }> {
  const { client, urlOf } = await connectQueues(command)
  const push = maintenanceQueue(client, urlOf('MaintenanceQueueUrl'))
  const runs = maintenanceRuns(table)
  const stored = await runs.find(task.name)
  const isFollowed = stored && !restart && !stored.isShown && isDeepStrictEqual(stored.task, task)
  const begun = isFollowed ? stored : await runs.start(task)
  printProgress(
    command,
    isFollowed
      ? `Begun at ${begun.startedAt}, in the stack`
      : 'Begun in the stack: this command may be stopped, and run again to see how far it is',
  )
  // A run that has failed too often has no message left. A second message does nothing.
  if (begun.result === undefined) await push({ run: begun.id, task })
  let [read, shownAt] = [0, performance.now()]
  for (let run: Run | undefined = begun; ; run = await runs.find(task.name)) {
    if (run?.id !== begun.id) throw new CommandFailure('Another command has begun this again.')
    if (run.result !== undefined) {
      await runs.set(run, { isShown: true })
      return { result: run.result, findings: await runs.findings(run) }
    }
    if (run.failure && run.failure.at !== begun.failure?.at)
      throw new CommandFailure(
        `The worker failed, and tries again up to five times: ${run.failure.text}. Its log has the place. Run the command again to follow it.`,
        EXIT.failed,
      )
    if (performance.now() - shownAt >= LINE_MS) {
      const counts = await Promise.all(progress.map((key) => runs.progressAt(key)))
      const now = counts.reduce((sum, count) => sum + count, 0)
      if (now !== read) printProgress(command, `${counted(now, noun)} read`)
      ;[read, shownAt] = [now, performance.now()]
    }
    await sleep(POLL_MS)
  }
}
