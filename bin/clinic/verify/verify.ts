import type { Command } from 'commander'
import type { ReportedDifference } from '../../../shared/maintenance/verify/comparison/difference.ts'
import type { Verification } from '../../../shared/maintenance/verify/comparison/inspection.ts'
import {
  type VerifyOptions,
  verificationParts,
  verifyClinic,
} from '../../../shared/maintenance/verify/verify-clinic.ts'
import { readableClinic, type Verified } from '../../../shared/maintenance/verify/verify-clinics.ts'
import type { ClinicFinding } from '../../../shared/maintenance/walk/runs.ts'
import { walk } from '../../../shared/maintenance/walk/walk.ts'
import { verificationKey, walkKey } from '../../../shared/store/keys/operator.ts'
import { chooseClinic, connect, openClinic } from '../tool/connection.ts'
import {
  CommandFailure,
  counted,
  EXIT,
  type GlobalOptions,
  NeedsAttention,
  nameClinic,
  print,
  printLines,
  walkNotices,
} from '../tool/output.ts'
import { progressBar } from '../tool/progress.ts'
import { runInStack } from '../tool/run-in-stack.ts'
import { guardWrites } from '../tool/write-guard.ts'
import { inWords, subjectOf } from './words.ts'

/** Maximum number of differences in the JSON; `total` counts all. */
const MAX_LISTED = 1000

type Options = { all: boolean; restart: boolean; repair: boolean }

export function addVerifyCommand(command: Command): void {
  command
    .option('--all', 'verify every clinic, in a worker of the stack', false)
    .option('--restart', 'begin again; without it, the command continues where it was stopped', false)
    .option('--repair', 'repair what can be repaired of a clinic', false)
    .action(async (given: Options, command: Command) => {
      if (given.all && command.getOptionValueSource('clinic') === 'cli')
        throw new CommandFailure('Specify either --clinic or --all.')
      if (given.all && given.repair)
        throw new CommandFailure('--repair is for one clinic: --all lists the clinics with differences.')
      const remaining = given.all ? await verifyAll(command, given) : await verifyOne(command, given)
      if (remaining > 0) throw new NeedsAttention()
    })
}

/** Prints the number of differences by kind in each clinic that has any. */
async function verifyAll(command: Command, { restart }: Options): Promise<number> {
  const progress = [walkKey('maintain', 'verify')]
  const run = {
    table: await connect(command),
    task: { name: 'verify' },
    progress,
    noun: 'clinic',
    restart,
  } as const
  const { result, findings } = await runInStack(command, run)
  const { remaining, failed } = result as Verified
  const clinics = findings.map(({ clinic, kinds, failure }) => ({
    clinic_id: clinic,
    differences: kinds,
    error: failure ?? null,
  }))
  print(command, { total: remaining, failed, clinics }, [
    ...findings.map(describeFinding),
    `Verified all clinics: ${counted(remaining, 'difference')}`,
    ...(findings.length > 0 ? ['Run "verify --clinic ID" to see what they are.'] : []),
  ])
  if (failed > 0) throw new CommandFailure(`${counted(failed, 'clinic')} could not be verified.`, EXIT.failed)
  return remaining
}

const describeFinding = ({ clinic, kinds, failure }: ClinicFinding): string =>
  failure === undefined
    ? `${clinic}: ${Object.entries(kinds)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(', ')}`
    : `${clinic} could not be verified: ${failure}`

/** Verifies the clinic of `--clinic`, part by part. Returns the number of differences that are not repaired. */
async function verifyOne(command: Command, given: Options): Promise<number> {
  const { repair } = given
  const id = await chooseClinic(command)
  const table = await connect(command)
  const progress = await connect(command)
  const clinic = await readableClinic(id, async () => (await openClinic(command)).clinic)
  guardWrites(table, id, 'verify')
  nameClinic(command, clinic)
  const { json } = command.optsWithGlobals<GlobalOptions>()
  const listed: ReportedDifference[] = []
  const bar = progressBar(command, id)
  let rows = 0
  const options: VerifyOptions = {
    repair,
    onCount: (_, by) => {
      rows += by
      bar.show(rows)
    },
    onDifference: (difference) => {
      if (!json) {
        bar.done()
        printLines(command, formatDifference(difference))
      }
      if (listed.length < MAX_LISTED) listed.push(difference)
    },
  }
  try {
    const verification = await walk(
      progress,
      verificationParts,
      {
        progress: verificationKey(repair ? 'support' : 'read', id),
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
    )
    const { checked, differences: total, repaired } = verification
    const differences = listed.map(differenceJson)
    print(command, { checked, total, repaired, differences }, [summary(verification)])
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
