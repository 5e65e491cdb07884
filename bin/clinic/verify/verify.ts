import type { Command } from 'commander'
import type { Clinic, ClinicId } from '../../../shared/domain/clinic.ts'
import type { ReportedDifference } from '../../../shared/maintenance/verify/comparison/difference.ts'
import type { Verification } from '../../../shared/maintenance/verify/comparison/inspection.ts'
import { isItemOfRecord, itemCount } from '../../../shared/maintenance/verify/item-count.ts'
import { verifyClinic } from '../../../shared/maintenance/verify/verify-clinic.ts'
import { clinicsOf } from '../../../shared/maintenance/walk/sources.ts'
import { type WalkOptions, walk } from '../../../shared/maintenance/walk/walk.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { walkKey } from '../../../shared/store/keys/operator.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { UnreadableRecord } from '../../../shared/store/table/unreadable-record.ts'
import { recordCounts } from '../export/record-count.ts'
import { chooseClinic, connect, openClinic } from '../tool/connection.ts'
import { guardAgainstDeletion } from '../tool/deletion-guard.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import {
  CommandFailure,
  type GlobalOptions,
  formatTable as lines,
  NeedsAttention,
  nameClinic,
  print,
  printLines,
  walkNotices,
} from '../tool/output.ts'
import { progressBar } from '../tool/progress.ts'
import { openProgressFile, ProgressFileError } from './progress-file.ts'
import { explanations, inWords, subjectOf } from './words.ts'

/** Maximum number of differences in the JSON; `total` counts all. */
const MAX_LISTED = 1000

type Options = { all: boolean; restart: boolean; repair: boolean; resume?: string }

type VerifiedClinic = Pick<Clinic, 'id' | 'name' | 'deletingAt'>

type ProgressFile = ReturnType<typeof openProgressFile>

export function addVerifyCommand(command: Command): void {
  command
    .option(
      '--all',
      'verify every clinic, in the order of their ids; if it is stopped, the same command continues',
      false,
    )
    .option('--restart', 'with --all: begin again with the first clinic', false)
    .option('--repair', 'repair what can be repaired', false)
    .option(
      '--resume <file>',
      'with --clinic: where to save how far it is; if it is stopped, the same command continues; removed at the end',
    )
    .addHelpText('after', ['\nDifferences and their repairs:', ...lines(explanations())].join('\n'))
    .action(async (given: Options, command: Command) => {
      if (given.all && command.getOptionValueSource('clinic') === 'cli')
        throw new CommandFailure('Specify either --clinic or --all.')
      if (given.all && given.resume !== undefined)
        throw new CommandFailure('--resume is for --clinic: --all continues where it was stopped without it.')
      const remaining = given.all ? await verifyAll(command, given) : await verifyOne(command, given)
      if (remaining > 0) throw new NeedsAttention()
    })
}

async function verifyAll(command: Command, given: Options): Promise<number> {
  const table = await connect(command)
  const options = { ...given, ...walkNotices(command, 'clinic') }
  return verifyClinics(table, await connect(command), options, (clinic) =>
    verifyWithProgress(command, table, clinic, given),
  )
}

/** Verifies the clinic of `--clinic`. Returns the number of differences that are not repaired. */
async function verifyOne(command: Command, given: Options): Promise<number> {
  const id = await chooseClinic(command)
  const table = await connect(command)
  const clinic = await readable(id, async () => (await openClinic(command)).clinic)
  guardAgainstDeletion(table, id)
  nameClinic(command, clinic)
  const file = openFile(given, clinic)
  const remaining = await verifyWithProgress(command, table, clinic, given, file)
  file.remove()
  return remaining
}

/**
 * Verifies every clinic, and returns the number of differences that are not repaired, also before it was stopped.
 * @param progress the same table, without a guard that rejects writes while a clinic is being deleted
 */
export async function verifyClinics(
  table: Table,
  progress: Table,
  { repair, ...options }: WalkOptions & { readonly repair: boolean },
  verify: (clinic: VerifiedClinic) => Promise<number>,
): Promise<number> {
  const clinics = clinicStore({ table })
  const ids = await clinics.ids()
  const [role, name] = repair ? (['support', 'verify --repair'] as const) : (['read', 'verify'] as const)
  return walk(
    progress,
    clinicsOf(ids, 1),
    {
      progress: walkKey(role, name),
      visit: async ([id]) => {
        const clinic = await readable(id as string, () => clinics.find(id as ClinicId))
        // Half of a clinic that is being deleted is missing.
        if (clinic === null || clinic.deletingAt !== undefined) return { remaining: 0 }
        guardAgainstDeletion(table, clinic.id)
        return { remaining: await verify(clinic) }
      },
      finish: async ({ counts: { remaining = 0 } }) => remaining,
    },
    options,
  )
}

/** A clinic whose settings cannot be read is verified too, which reports them. */
async function readable<C>(id: string, read: () => Promise<C>): Promise<C | VerifiedClinic> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error
    return { id: id.toLowerCase() as ClinicId, name: 'settings that cannot be read' }
  }
}

/** @throws CommandFailure if the file of `--resume` cannot be used */
function openFile({ repair, resume }: Options, { id }: VerifiedClinic): ProgressFile {
  try {
    return openProgressFile(resume && resolveFromInvocationDir(resume), { clinic: id, repair })
  } catch (error) {
    throw error instanceof ProgressFileError ? new CommandFailure(error.message) : error
  }
}

/** Verifies a clinic, and prints what is found. Returns the number of differences that are not repaired. */
async function verifyWithProgress(
  command: Command,
  table: Table,
  clinic: VerifiedClinic,
  { all, repair }: Options,
  file?: ProgressFile,
): Promise<number> {
  const { json } = command.optsWithGlobals<GlobalOptions>()
  const before = file?.progress().current ?? undefined
  const listed: ReportedDifference[] = [...(before?.listed ?? [])]
  const counts = Object.entries(before?.checked ?? {}).filter(([what]) => isItemOfRecord(what))
  const done = counts.reduce((sum, [, count]) => sum + count, 0)
  const size = itemCount(await recordCounts(table, clinic.id)) - done
  const bar = progressBar(command, clinic.id, Math.max(0, size))
  let rows = 0
  try {
    const result = await verifyClinic(table, clinic.id, {
      repair,
      before,
      onPart: (verified) => file?.save({ current: { ...verified, listed } }),
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
    print(command, { ...id, checked, total, repaired, differences }, [
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
