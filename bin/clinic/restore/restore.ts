import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Restore } from '../../../shared/maintenance/restore/mirror-partition.ts'
import {
  type ReconciledClinic,
  type Reconciliation,
  reconcileWithoutSource,
  reconcileWithSource,
  requireReconcilable,
} from '../../../shared/maintenance/restore/reconcile.ts'
import { beginRestorePause, endRestorePause } from '../../../shared/maintenance/restore/restore-pause.ts'
import {
  configureTable,
  type RestoredTable,
  restoreTable,
} from '../../../shared/maintenance/restore/restored-table.ts'
import { forEachConcurrent } from '../../../shared/maintenance/walk/for-each-concurrent.ts'
import type { ReconcileResult } from '../../../shared/maintenance/walk/runs.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import { walkKey } from '../../../shared/store/keys/operator.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { isAccessDenied } from '../tool/aws-errors.ts'
import { addToTrail } from '../tool/command-trail.ts'
import { connect, connectDynamoDb, connectTable } from '../tool/connection.ts'
import { describeError } from '../tool/error-output.ts'
import {
  CommandFailure,
  counted,
  EXIT,
  type GlobalOptions,
  parseOption,
  print,
  printProgress,
  walkNotices,
} from '../tool/output.ts'
import { runInStack } from '../tool/run-in-stack.ts'
import { addClinicCommand } from './restore-clinic.ts'
import { explainRejection, PastInstant, restoredName } from './restored-time.ts'

const STEPS = `
Steps, described in docs/operate/restore.md:
  1. restore table --to TIME              a new table with the items of that time; the API keeps running
  2. restore reconcile --table NEW        pauses all clinics, and takes over what was sent, delivered, revoked and erased since
  3. deploy with -c tableName=NEW -c tableStream=LABEL, which ends the pause
  4. verify --all

Instead of 3, "restore cancel" ends the pause.`

export function addRestoreCommands(group: Command): void {
  group.addHelpText('after', STEPS)
  addTableCommand(group)
  addConfigureCommand(group)
  addReconcileCommand(group)
  addCancelCommand(group)
  addClinicCommand(group)
}

function addTableCommand(group: Command): void {
  group
    .command('table')
    .description('restore the table to a new one, and set its settings; may be repeated')
    .requiredOption('--to <time>', 'such as 2026-11-22T10:00:00Z')
    .option('--name <table>', "the new table's name, which begins with the name of the table in use")
    .action(async (given: { to: string; name?: string }, command: Command) => {
      const { client, tableName: source } = await connectDynamoDb(requireDeployed(command))
      const at = parseOption('to', PastInstant, given.to)
      const name = given.name ?? restoredName(source, at)
      // The role of the command may create no other tables.
      if (!name.startsWith(`${source}-`)) throw new CommandFailure(`--name must begin with ${source}-`)
      const restoring = restoreTable(platformOf(command, client), { source, name, at })
      printRestored(command, await restoring.catch(explainRejection))
    })
}

function addConfigureCommand(group: Command): void {
  group
    .command('configure')
    .description('set the settings of a table that was restored from a backup; may be repeated')
    .requiredOption('--table <name>')
    .option('--source-lost', 'the table of the stack no longer exists', false)
    .action(async (given: { table: string; sourceLost: boolean }, command: Command) => {
      const { table: name } = given
      const { client, tableName } = await connectDynamoDb(requireDeployed(command))
      const source = given.sourceLost ? null : tableName
      printRestored(command, await configureTable(platformOf(command, client), { name, source }))
    })
}

function addReconcileCommand(group: Command): void {
  group
    .command('reconcile')
    .description(
      'pause all clinics, and prepare a restored table for use: nothing is sent twice, and nothing erased comes back',
    )
    .requiredOption('--table <name>', 'the restored table')
    .option('--source-lost', 'the table that was in use no longer exists', false)
    .option(
      '--here',
      'in this process, which has to run until the end; without it, a worker of the stack does it',
      false,
    )
    .action(async (given: { table: string; sourceLost: boolean; here: boolean }, command: Command) => {
      const { client: _, tableName } = await connectDynamoDb(command)
      if (given.table === tableName)
        throw new CommandFailure('The stack uses this table: reconcile it before that.')
      const restored = await connectTable(command, given.table)
      const source = await connectTable(command, tableName)
      const restore = given.sourceLost
        ? await requireLost(source, restored).then(() => given.table)
        : await pauseSource(command, { source, restored }, given.table).catch(explainRejection)
      const onErasures = (_clinic: string, patients: readonly string[]) =>
        addToTrail(
          command,
          patients.map((patient) => ({ patient_id: patient })),
        )
      if (!given.here) {
        if (!given.sourceLost)
          await requireReconcilable({ source, restored }, onErasures).catch(explainRejection)
        return reconcileInStack(command, restored, { ...given, restore })
      }
      const options = {
        now: Date.now,
        restore,
        ...walkNotices(command, 'clinic'),
        onErasures,
        onClinic: (reconciled: ReconciledClinic) => printProgress(command, describeClinic(reconciled)),
        onClinicFailed: (id: string, error: Error) => {
          if (isAccessDenied(error)) throw error
          const { message } = describeError(error, command)
          command.configureOutput().writeErr?.(`${id} could not be reconciled: ${message}\n`)
        },
      }
      const reconciling = given.sourceLost
        ? reconcileWithoutSource(restored, options)
        : reconcileWithSource({ source, restored }, options)
      const reconciliation = await reconciling.catch(explainRejection)
      const before = reconciledBefore(reconciliation)
      print(command, reconciliationJson(reconciliation), [
        ...describeReconciled(reconciliation.reconciled),
        ...(before > 0
          ? [`${counted(before, 'clinic')} of them before this run continued, which listed them`]
          : []),
        ...describeRest(reconciliation),
      ])
      requireReconciled(reconciliation)
    })
}

function requireReconciled({ failed }: { readonly failed: number }): void {
  if (failed > 0)
    throw new CommandFailure(
      `${counted(failed, 'clinic')} could not be reconciled. Do not use the table; run the command again.`,
      EXIT.failed,
    )
}

/** Reconciles in a worker of the stack. Prints the clinics that it could not reconcile, and counts the others. */
async function reconcileInStack(
  command: Command,
  restored: Table,
  { table, sourceLost, restore }: { table: string; sourceLost: boolean; restore: string },
): Promise<void> {
  const { result, findings } = await runInStack(command, {
    table: restored,
    task: { name: 'reconcile', table, restore, isSourceLost: sourceLost },
    progress: [walkKey('maintain', 'reconcile')],
    noun: 'clinic',
  })
  const { reconciled, failed, held, missing } = result as ReconcileResult
  const failures = findings.map(({ clinic, failure }) => ({ clinic_id: clinic, error: failure }))
  print(command, { reconciled, failed, failures, missing_clinics: missing, held_messages: held }, [
    ...failures.map(({ clinic_id, error }) => `${clinic_id} could not be reconciled: ${error}`),
    ...describeReconciled(reconciled),
    ...describeRest({ held, missing: missing.map((id) => ({ id })) }),
  ])
  requireReconciled({ failed })
}

/** Pauses the clinics of the table in use, unless the restored one cannot be reconciled with it. Returns what identifies the pause. */
async function pauseSource(command: Command, tables: Restore, name: string): Promise<string> {
  await requireReconcilable(tables)
  return beginRestorePause(tables.source, name, (ms) => {
    printProgress(
      command,
      `All clinics are paused; waiting ${Math.ceil(ms / 1000)} s for functions that had begun before`,
    )
    return sleep(ms)
  })
}

function addCancelCommand(group: Command): void {
  group
    .command('cancel')
    .description('give up a restore: the pause of "restore reconcile" ends, and the table in use stays')
    .action(async (_: object, command: Command) => {
      const table = await connect(command)
      const all = await clinicStore({ table }).list()
      const paused = all.filter(({ replacement }) => replacement)
      const { refreshClinic } = credentialStore({ table, now: table.now })
      // A command that was stopped may have ended the pause of a clinic, but not in all of its credentials.
      await forEachConcurrent(all, (clinic) =>
        clinic.replacement ? endRestorePause(table, clinic) : refreshClinic(clinic),
      )
      const restored = paused[0]?.replacement?.table
      print(command, { clinics: paused.length, restored_table: restored ?? null }, [
        restored === undefined
          ? 'Nothing changed: no clinic is paused for a restore of the table.'
          : `Ended the pause of ${counted(paused.length, 'clinic')}. Do not use ${restored} without reconciling it again.`,
      ])
    })
}

/** @throws CommandFailure if the table in use has a clinic of the restored one: what was sent since would be sent again */
async function requireLost(source: Table, restored: Table): Promise<void> {
  const existing = await clinicStore({ table: source })
    .list()
    .catch((error: Error) => {
      if (error.name === 'ResourceNotFoundException') return []
      throw error
    })
  const ids = new Set(existing.map(({ id }) => id))
  const kept = (await clinicStore({ table: restored }).list()).find(({ id }) => ids.has(id))
  if (kept)
    throw new CommandFailure(
      `The table in use has clinic ${kept.id}, so it is not lost: reconcile without --source-lost.`,
    )
}

/** The local engine has no point-in-time recovery. */
function requireDeployed(command: Command): Command {
  if (command.optsWithGlobals<GlobalOptions>().stack === undefined)
    throw new CommandFailure('Only the table of a deployed stack can be restored: select one with --stack.')
  return command
}

const platformOf = (command: Command, client: Parameters<typeof restoreTable>[0]['client']) => ({
  client,
  sleep: (ms: number) => sleep(ms),
  onProgress: (text: string) => printProgress(command, text),
})

const printRestored = (command: Command, { name, stream }: RestoredTable): void =>
  print(command, { table: name, stream }, [
    `${name} can be reconciled: run "restore reconcile --table ${name}", which pauses all clinics.`,
    `Then deploy with -c tableName=${name} -c tableStream=${stream}`,
  ])

const describeClinic = ({ clinic, messages, erasures }: ReconciledClinic): string =>
  [
    `${clinic.id}  reconciled`,
    ...(messages ? [`${counted(messages.updated + messages.added, 'message')} taken over`] : []),
    ...(messages?.patient_unknown
      ? [`${counted(messages.patient_unknown, 'message')} of unknown patients`]
      : []),
    ...(erasures ? [`${counted(erasures.erased, 'patient')} erased again`] : []),
  ].join(', ')

/** Clinics that processes have reconciled that were stopped. They printed them. */
const reconciledBefore = ({ reconciled, clinics }: Reconciliation): number => reconciled - clinics.length

const describeReconciled = (reconciled: number): string[] => [
  `${counted(reconciled, 'clinic')} reconciled: verify them once the table is in use`,
]

const describeRest = ({ missing, held }: { missing: readonly { id: string }[]; held: number }): string[] => [
  ...missing.map(({ id }) => `${id}  was created after the restored time, and is not in the restored table`),
  ...(held > 0 ? [`${counted(held, 'message')} to resolve: see "message unresolved" after the swap`] : []),
]

const reconciliationJson = (reconciliation: Reconciliation) => ({
  reconciled: reconciliation.reconciled,
  reconciled_before: reconciledBefore(reconciliation),
  failed: reconciliation.failed,
  clinics: reconciliation.clinics.map(({ clinic, messages, erasures }) => ({
    clinic_id: clinic.id,
    messages,
    erasures,
  })),
  missing_clinics: reconciliation.missing.map(({ id }) => id),
  held_messages: reconciliation.held,
})
