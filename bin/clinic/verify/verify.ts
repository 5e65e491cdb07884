import type { Command } from 'commander'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import type { ReportedDifference } from '../../../shared/maintenance/verify/comparison/difference.ts'
import type { Verification } from '../../../shared/maintenance/verify/comparison/inspection.ts'
import { isItemOfRecord, itemCount } from '../../../shared/maintenance/verify/item-count.ts'
import {
  type VerifyOptions,
  verificationParts,
  verifyClinic,
} from '../../../shared/maintenance/verify/verify-clinic.ts'
import {
  readableClinic,
  type Verified,
  type VerifiedClinic,
  verifyClinics,
} from '../../../shared/maintenance/verify/verify-clinics.ts'
import type { ClinicFinding } from '../../../shared/maintenance/walk/runs.ts'
import { walk } from '../../../shared/maintenance/walk/walk.ts'
import { verificationKey, walkKey } from '../../../shared/store/keys/operator.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { recordCounts } from '../export/record-count.ts'
import { isAccessDenied } from '../tool/aws-errors.ts'
import { addToTrail } from '../tool/command-trail.ts'
import { chooseClinic, connect, openClinic } from '../tool/connection.ts'
import { describeError } from '../tool/error-output.ts'
import {
  CommandFailure,
  counted,
  EXIT,
  type GlobalOptions,
  formatTable as lines,
  listPrinter,
  NeedsAttention,
  nameClinic,
  print,
  printLines,
  walkNotices,
} from '../tool/output.ts'
import { progressBar } from '../tool/progress.ts'
import { hereOption, runInStack } from '../tool/run-in-stack.ts'
import { guardWrites } from '../tool/write-guard.ts'
import { explanations, inWords, subjectOf } from './words.ts'

/** Maximum number of differences in the JSON; `total` counts all. */
const MAX_LISTED = 1000

type Options = { all: boolean; restart: boolean; repair: boolean; here: boolean }

/** Prints the result for a clinic, or with --json adds it to the list of all. */
type Show = (result: object, text: readonly string[]) => void

export function addVerifyCommand(command: Command): void {
  command
    .option('--all', 'verify every clinic, in a worker of the stack; with --repair, in this process', false)
    .option('--restart', 'begin again; without it, the command continues where it was stopped', false)
    .option('--repair', 'repair what can be repaired', false)
    .addOption(hereOption())
    .addHelpText('after', ['\nDifferences and their repairs:', ...lines(explanations())].join('\n'))
    .action(async (given: Options, command: Command) => {
      if (given.all && command.getOptionValueSource('clinic') === 'cli')
        throw new CommandFailure('Specify either --clinic or --all.')
      const { remaining, failed } = given.all
        ? await (given.here || given.repair ? verifyAll : verifyAllInStack)(command, given)
        : await verifyOne(command, given)
      if (failed > 0)
        throw new CommandFailure(`${counted(failed, 'clinic')} could not be verified.`, EXIT.failed)
      if (remaining > 0) throw new NeedsAttention()
    })
}

/** Prints the number of differences by kind in each clinic that has any. */
async function verifyAllInStack(command: Command, { restart }: Options): Promise<Verified> {
  const progress = [walkKey('maintain', 'verify')]
  const run = {
    table: await connect(command),
    task: { name: 'verify' },
    progress,
    noun: 'clinic',
    restart,
  } as const
  const { result, findings } = await runInStack(command, run)
  const verified = result as Verified
  const clinics = findings.map(({ clinic, kinds, failure }) => ({
    clinic_id: clinic,
    differences: kinds,
    error: failure ?? null,
  }))
  print(command, { total: verified.remaining, failed: verified.failed, clinics }, [
    ...findings.map(describeFinding),
    `Verified all clinics: ${counted(verified.remaining, 'difference')}`,
    ...(findings.length > 0 ? ['Run "verify --clinic ID" to see what they are.'] : []),
  ])
  return verified
}

const describeFinding = ({ clinic, kinds, failure }: ClinicFinding): string =>
  failure === undefined
    ? `${clinic}: ${Object.entries(kinds)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(', ')}`
    : `${clinic} could not be verified: ${failure}`

/** Verifies every clinic in this process, in the order of their ids. */
async function verifyAll(command: Command, given: Options): Promise<Verified> {
  const table = await connect(command)
  const list = listPrinter(command)
  const show: Show = (result, text) => {
    addToTrail(command, result)
    list.add(result, text)
  }
  const [role, name] = given.repair
    ? (['support', 'verify --repair'] as const)
    : (['read', 'verify'] as const)
  const options = {
    progress: { table: await connect(command), key: walkKey(role, name) },
    restart: given.restart,
    ...walkNotices(command, 'clinic'),
    onClinicFailed: (id: ClinicId, error: Error) => {
      if (isAccessDenied(error)) throw error
      const { message = '' } = describeError(error, command)
      show({ clinic_id: id, error: message }, [`${id} could not be verified: ${message}`])
    },
  }
  try {
    return await verifyClinics(table, options, (clinic) => {
      guardWrites(table, clinic.id, 'verify')
      return printVerification(command, table, clinic, given, show, (options) =>
        verifyClinic(table, clinic.id, options),
      )
    })
  } finally {
    list.end()
  }
}

/** Verifies the clinic of `--clinic`, part by part. */
async function verifyOne(command: Command, given: Options): Promise<Verified> {
  const id = await chooseClinic(command)
  const table = await connect(command)
  const progress = await connect(command)
  const clinic = await readableClinic(id, async () => (await openClinic(command)).clinic)
  guardWrites(table, id, 'verify')
  nameClinic(command, clinic)
  const show: Show = (result, text) => print(command, result, text)
  const remaining = await printVerification(command, table, clinic, given, show, (options) =>
    walk(
      progress,
      verificationParts,
      {
        progress: verificationKey(given.repair ? 'support' : 'read', id),
        visit: async (parts) => {
          const { checked, ...found } = await verifyClinic(table, id, options, parts)
          return { ...checked, ...found }
        },
        finish: async ({ counts: { differences = 0, repaired = 0, ...checked } }) => ({
          checked,
          differences,
          repaired,
        }),
      },
      { ...given, ...walkNotices(command, 'part') },
    ),
  )
  return { remaining, failed: 0 }
}

/** Verifies a clinic, and prints what is found. Returns the number of differences that are not repaired. */
async function printVerification(
  command: Command,
  table: Table,
  clinic: VerifiedClinic,
  { all, repair }: Options,
  show: Show,
  verify: (options: VerifyOptions) => Promise<Verification>,
): Promise<number> {
  const { json } = command.optsWithGlobals<GlobalOptions>()
  const listed: ReportedDifference[] = []
  const bar = progressBar(command, clinic.id, itemCount(await recordCounts(table, clinic.id)))
  let rows = 0
  try {
    const result = await verify({
      repair,
      onCount: (what, by) => {
        if (isItemOfRecord(what)) rows += by
        bar.show({ bytes: rows, rows })
      },
      onDifference: (difference) => {
        if (!json) {
          bar.done()
          printLines(command, formatDifference(difference))
        }
        if (listed.length < MAX_LISTED) listed.push(difference)
      },
    })
    const { checked, differences: total, repaired } = result
    const id = all ? { clinic_id: clinic.id } : {}
    const differences = listed.map(differenceJson)
    show({ ...id, checked, total, repaired, differences }, [
      `${all ? `${clinic.id} ${clinic.name}: ` : ''}${summary(result)}`,
    ])
    return total - repaired
  } finally {
    bar.done()
  }
}

/** The kind at the end is that of the list of differences; the key is for a look into the table. */
const formatDifference = (difference: ReportedDifference): string => {
  const { kind, key, repaired } = difference
  return `${inWords(difference)}${repaired ? ' (repaired)' : ''}  [${kind} ${key.pk} ${key.sk}]`
}

const differenceJson = (difference: ReportedDifference) => ({
  kind: difference.kind,
  ...subjectOf(difference),
  text: inWords(difference),
  pk: difference.key.pk,
  sk: difference.key.sk,
  note: difference.note ?? null,
  repaired: difference.repaired,
})

function summary({ checked, differences, repaired }: Verification): string {
  const counts = Object.entries(checked).map(
    ([what, count]) => `${count.toLocaleString('en')} ${what.replace('_', ' ')}`,
  )
  const found = differences === 1 ? '1 difference' : `${differences.toLocaleString('en')} differences`
  const repairedText = repaired > 0 ? `, ${repaired.toLocaleString('en')} repaired` : ''
  return `Checked ${counts.join(', ')}: ${found}${repairedText}`
}
