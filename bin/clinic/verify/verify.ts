import type { Command } from 'commander'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import {
  DIFFERENCES,
  type ReportedDifference,
} from '../../../shared/maintenance/verify/comparison/difference.ts'
import type { Verification } from '../../../shared/maintenance/verify/comparison/inspection.ts'
import { isItemOfRecord, itemCount } from '../../../shared/maintenance/verify/item-count.ts'
import { verifyClinic } from '../../../shared/maintenance/verify/verify-clinic.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { recordCounts } from '../export/record-count.ts'
import { connect, requireClinic } from '../tool/connection.ts'
import { guardAgainstDeletion } from '../tool/deletion-guard.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import {
  CommandFailure,
  type GlobalOptions,
  formatTable as lines,
  NeedsAttention,
  printLines,
} from '../tool/output.ts'
import { progressBar } from '../tool/progress.ts'
import { openProgressFile, ProgressFileError } from './progress-file.ts'
import { inWords, subjectOf } from './words.ts'

/** Maximum number of differences in the JSON; `total` counts all. */
const MAX_LISTED = 1000

type Options = { clinic?: string; all: boolean; after?: string; repair: boolean; resume?: string }

type ProgressFile = ReturnType<typeof openProgressFile>

export function addVerifyCommand(program: Command): void {
  program
    .command('verify')
    .description("verify a clinic's lists, tallies and search against its records, while the API is running")
    .option('--clinic <id>')
    .option('--all', 'verify every clinic, one after the other, in the order of their ids', false)
    .option('--after <id>', 'with --all: continue after this clinic, the last that was verified')
    .option('--repair', 'repair what can be repaired', false)
    .option(
      '--resume <file>',
      'where to save how far it is: if it is stopped, the same command continues; removed at the end',
    )
    .addHelpText(
      'after',
      ['\nDifferences and their repairs:', ...lines(Object.entries(DIFFERENCES))].join('\n'),
    )
    .action(async (given: Options, command: Command) => {
      if ((given.clinic === undefined) !== given.all)
        throw new CommandFailure('Specify either --clinic or --all.')
      const table = await connect(command)
      const { json } = command.optsWithGlobals<GlobalOptions>()
      const printLine = (text: string) => printLines(command, text)
      const only = given.clinic === undefined ? null : await requireClinic(table, given.clinic)
      const file = openFile(given, only)
      for await (const clinic of only ? [only] : everyClinic(table, given)) {
        if (file.progress().verified.includes(clinic.id)) continue
        const { result, listed } = await verifyWithProgress(command, table, clinic, given.repair, file)
        const { checked, differences: total, repaired } = result
        const id = given.all ? { clinic_id: clinic.id } : {}
        if (json)
          printLine(
            JSON.stringify({ ...id, checked, total, repaired, differences: listed.map(differenceJson) }),
          )
        else printLine(`${given.all ? `${clinic.id} ${clinic.name}: ` : ''}${summary(result)}`)
        const { verified, remaining } = file.progress()
        file.save({
          verified: [...verified, clinic.id],
          remaining: remaining + total - repaired,
          current: null,
        })
      }
      file.remove()
      if (file.progress().remaining > 0) throw new NeedsAttention()
    })
}

/** The clinics of the table, each as it is at its turn. */
async function* everyClinic(table: Table, { after = '' }: Options): AsyncGenerator<Clinic> {
  const clinics = clinicStore({ table })
  const ids = (await clinics.list()).map(({ id }) => id).filter((id) => id > after.toLowerCase())
  for (const id of ids.sort()) {
    const current = await clinics.find(id)
    // Half of a clinic that is being deleted is missing.
    if (current === null || current.deletingAt !== undefined) continue
    guardAgainstDeletion(table, id)
    yield current
  }
}

/** @throws CommandFailure if the file of `--resume` cannot be used */
function openFile({ repair, resume }: Options, only: Clinic | null): ProgressFile {
  try {
    return openProgressFile(resume && resolveFromInvocationDir(resume), { clinic: only?.id ?? null, repair })
  } catch (error) {
    throw error instanceof ProgressFileError ? new CommandFailure(error.message) : error
  }
}

async function verifyWithProgress(
  command: Command,
  table: Table,
  clinic: Clinic,
  repair: boolean,
  { progress, save }: ProgressFile,
) {
  const { json } = command.optsWithGlobals<GlobalOptions>()
  const { current } = progress()
  const before = current?.clinic === clinic.id ? current : undefined
  const listed: ReportedDifference[] = [...(before?.listed ?? [])]
  const checked = Object.entries(before?.checked ?? {}).filter(([what]) => isItemOfRecord(what))
  const done = checked.reduce((sum, [, count]) => sum + count, 0)
  const size = itemCount(await recordCounts(table, clinic.id)) - done
  const bar = progressBar(command, clinic.id, Math.max(0, size))
  let rows = 0
  try {
    const result = await verifyClinic(table, clinic.id, {
      repair,
      before,
      onPart: (verified) => save({ current: { clinic: clinic.id, ...verified, listed } }),
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
    return { result, listed }
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
