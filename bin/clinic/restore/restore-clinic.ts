import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type Command, Option } from 'commander'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { isUuid } from '../../../shared/domain/uuid.ts'
import { CopyIsNewer } from '../../../shared/maintenance/restore/clinic/comparison.ts'
import {
  planRestore,
  type RestorePlan,
  type StayReason,
} from '../../../shared/maintenance/restore/clinic/plan.ts'
import {
  OtherRestore,
  requireSameRestore,
  restoreClinic,
} from '../../../shared/maintenance/restore/clinic/restore-clinic.ts'
import { isSameSecond, restoredTimeOf } from '../../../shared/maintenance/restore/restored-table.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import { tableFormatKey } from '../../../shared/store/keys/operator.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { addYesOption, canAsk, confirm } from '../tool/confirmation.ts'
import { type ClinicContext, connectDynamoDb, connectTable, openClinic } from '../tool/connection.ts'
import { CommandFailure, counted, parseOption, print, printProgress, walkNotices } from '../tool/output.ts'
import { progressBar } from '../tool/progress.ts'
import { fromOption } from '../tool/write-guard.ts'
import { explainRejection, PastInstant, restoredName } from './restored-time.ts'

type Options = {
  readonly to: string
  readonly from?: string
  readonly fromData?: string
  readonly removeCreated: boolean
  readonly removeAppointment?: readonly string[]
}

export function addClinicCommand(group: Command): void {
  const command = group
    .command('clinic')
    .description(
      "put one clinic's records back to an earlier time, from a copy that was restored; shows what it would do, and asks",
    )
    .argument('<clinic>', 'full name, or start of the id')
    .requiredOption('--to <time>', 'such as 2026-11-22T10:00:00Z')
    .option('--from <table>', 'the copy of that time (default: the one that "restore table" makes)')
    .addOption(
      new Option(
        '--from-data <folder>',
        'on the local stack: another folder of npm start -- --data',
      ).conflicts('from'),
    )
    .option(
      '--remove-created',
      'remove what was created since, except appointments that no import made',
      false,
    )
    .option('--remove-appointment <ids...>', 'with --remove-created: also these appointments')
  addYesOption(command).action(async (text: string, given: Options, self: Command) => {
    const appointments = new Set((given.removeAppointment ?? []).map(parseId))
    if (appointments.size > 0 && !given.removeCreated)
      throw new CommandFailure('--remove-appointment needs --remove-created')
    self.setOptionValueWithSource('clinic', text, 'cli')
    const { table, clinic } = await openClinic(self)
    const { tableName } = await connectDynamoDb(self)
    const at = parseOption('to', PastInstant, given.to)
    const folder = given.fromData && resolve(process.env.INIT_CWD ?? '.', given.fromData)
    const from = folder ?? given.from ?? restoredName(tableName, at)
    if (from === tableName)
      throw new CommandFailure('--from is the table in use: name the copy of the earlier time.')
    // DynamoDB restores to a second.
    const to = new Date(Math.floor(at.getTime() / 1000) * 1000).toISOString()
    try {
      requireSameRestore(clinic, { to, from })
    } catch (error) {
      explain(error as Error)
    }
    await using data = folder ? await (await import('./data-copy.ts')).openDataCopy(self, folder) : undefined
    const copy = data?.table ?? (await openCopy(self, { name: from, at }))
    await requireComparable(copy, from, { table, clinic })
    const tables = { table, copy }
    const bar = progressBar(self, 'compared')
    const onCompared = (rows: number) => bar.show(rows)
    const options = { to, removeCreated: given.removeCreated, appointments, onCompared }
    const planned = await planRestore(tables, clinic.id, options).catch(explain).finally(bar.done)
    requireCreated(clinic, planned, appointments)
    if (isEmpty(planned) && clinic.restoring === undefined) {
      // A run that was stopped at its very end may not have reached every credential.
      await credentialStore({ table, now: table.now }).refreshClinic(clinic)
      const decisions = describeDecisions(planned)
      const text = decisions.length === 0 ? `Nothing differs from ${to}.` : 'Nothing is put back or removed.'
      return print(self, planJson(planned, false), [text, ...decisions])
    }
    const { yes } = self.opts<{ yes: boolean }>()
    if (!yes && !canAsk(self))
      return print(self, planJson(planned, false), [
        ...describePlan(clinic, to, planned),
        'Nothing was done. Use --yes to do it.',
      ])
    await confirm(self, describePlan(clinic, to, planned))
    const plan = await restoreClinic(tables, clinic.id, {
      ...options,
      removable: new Set(planned.removed.map(({ id }) => id)),
      from,
      sleep,
      onProgress: (line) => {
        bar.done()
        printProgress(self, line)
      },
      onWait: walkNotices(self, 'record').onWait,
    }).catch(explain)
    print(self, planJson(plan, true), [
      `Put back ${counted(plan.changed.length, 'record')} and removed ${plan.removed.length} of clinic ${clinic.name}. Tell its integrators to start their copies again.`,
      `Verify it: verify --clinic ${clinic.id}`,
    ])
  })
}

function parseId(text: string): string {
  const id = text.toLowerCase()
  if (!isUuid(id)) throw new CommandFailure(`--remove-appointment ${text} is not the id of an appointment`)
  return id
}

/** @throws CommandFailure if the table does not exist, or is of another time */
async function openCopy(command: Command, { name, at }: { name: string; at: Date }): Promise<Table> {
  const { client } = await connectDynamoDb(command)
  const restored = await restoredTimeOf(client, name)
  if (restored === null)
    throw new CommandFailure(
      `Table ${name} does not exist: make it with "restore table --to TIME", or name it with --from.`,
    )
  if (restored && !isSameSecond(restored, at))
    throw new CommandFailure(`Table ${name} was restored to ${restored.toISOString()}, which is not --to.`)
  return connectTable(command, name)
}

/** @throws CommandFailure if the copy lacks the clinic, or has another format */
async function requireComparable(copy: Table, name: string, { table, clinic }: ClinicContext): Promise<void> {
  const found = await clinicStore({ table: copy }).find(clinic.id)
  if (!found) throw new CommandFailure(`${name} does not have clinic ${clinic.id}.`)
  const [now, then] = [await table.get(tableFormatKey), await copy.get(tableFormatKey)]
  if (!isDeepStrictEqual(now, then))
    throw new CommandFailure(`${name} is of a time before a migration, and its records have another format.`)
}

/** @throws CommandFailure for an appointment that was not created since. A stopped restore may have removed it. */
function requireCreated(
  { restoring }: Clinic,
  { removed, staying }: RestorePlan,
  named: ReadonlySet<string>,
): void {
  const created = new Set([...removed, ...staying].map(({ id }) => id))
  const unknown = [...named].find((id) => !created.has(id))
  if (unknown && !restoring)
    throw new CommandFailure(
      `Appointment ${unknown} was not created after that time: --remove-appointment cannot name it.`,
    )
}

function explain(error: Error): never {
  if (error instanceof CopyIsNewer)
    throw new CommandFailure(
      `The copy has a record that was changed at ${error.changedAt}: it is of a later time than --to.`,
    )
  if (error instanceof OtherRestore)
    throw new CommandFailure(
      `A restore of the clinic was stopped. Complete it first: --to ${error.other.to} ${fromOption(error.other.from)}`,
    )
  return explainRejection(error)
}

const isEmpty = ({ changed, removed, areHolidaysChanged }: RestorePlan): boolean =>
  changed.length + removed.length === 0 && !areHolidaysChanged

const REASONS: Readonly<Record<StayReason, string>> = {
  not_asked_for: 'created since',
  not_named: 'no import made it, and --remove-appointment does not name it',
  erased: 'an erased patient, or a record of one',
  has_messages: 'messages to it stay',
  in_use: 'a record that stays refers to it',
}

const CONFLICTS = {
  time_taken: 'has its former time or room',
  external_id_taken: 'has its former external id',
  number_taken: 'has its former number',
  reference_missing: 'does not exist',
} as const

/** The numbers by kind; and by id, what keeps its state or is removed. */
const describePlan = ({ name }: Clinic, to: string, plan: RestorePlan): string[] => [
  `This puts back the records of clinic ${name} to ${to}. The clinic is paused for at least a minute, and every copy of its lists has to start again.`,
  ...describeDecisions(plan),
]

function describeDecisions(plan: RestorePlan): string[] {
  const { changed, removed, conflicts, staying, settings, areHolidaysChanged } = plan
  return [
    ...countsOf('Put back', changed),
    ...(areHolidaysChanged ? ['Put back: the holidays'] : []),
    ...conflicts.map(
      ({ kind, id, reason, by }) => `Stays as it is: ${kind} ${id}, because ${by} ${CONFLICTS[reason]}`,
    ),
    ...countsOf('Created since, and stay', staying),
    ...staying
      .filter(({ reason }) => reason !== 'not_asked_for')
      .map(({ kind, id, reason }) => `Stays: ${kind} ${id} (${REASONS[reason]})`),
    ...(settings.length > 0 ? [`Settings that differ, and stay as they are: ${settings.join(', ')}`] : []),
    ...countsOf('Removed', removed),
    ...removed.map(({ kind, id }) => `Removed: ${kind} ${id}`),
  ]
}

const countsOf = (what: string, records: readonly { readonly kind: string }[]): string[] =>
  [...Map.groupBy(records, ({ kind }) => kind)].map(([kind, all]) => `${what}: ${counted(all.length, kind)}`)

function planJson(
  { changed, removed, conflicts, staying, settings, areHolidaysChanged }: RestorePlan,
  done: boolean,
) {
  const named = (records: RestorePlan['removed']) => records.map(({ kind, id }) => ({ kind, id }))
  return {
    restored: done,
    put_back: named(changed),
    holidays_put_back: areHolidaysChanged,
    removed: named(removed),
    conflicts,
    staying,
    settings_that_differ: settings,
  }
}
