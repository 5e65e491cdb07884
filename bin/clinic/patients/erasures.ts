import { readFileSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import * as z from 'zod'
import { Uuid } from '../../../shared/api/schemas.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import { pendingErasures, replayErasures } from '../../../shared/maintenance/restore/erasure-replay.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { type Deletion, deletedClinics } from '../../../shared/store/copies/deleted-clinics.ts'
import { type Erasure, erasureLedger } from '../../../shared/store/copies/erasure-ledger.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { addToTrail } from '../tool/command-trail.ts'
import { addConfirmOptions, confirmByTyping } from '../tool/confirmation.ts'
import { chooseClinic, connect, openClinic, requireStoredClinic } from '../tool/connection.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import { CommandFailure, counted, formatTable, print } from '../tool/output.ts'

type ReplayOptions = { table?: string; from: string }

export function addErasureCommands(group: Command): void {
  group
    .command('list')
    .description('list the erasures of a clinic, oldest first, also of one that was deleted')
    .option('--to <file>', 'also write them to a file, as NDJSON')
    .action(async (given: { to?: string }, command: Command) => {
      const id = await chooseClinic(command)
      const table = await connect(command)
      const owner = await requireOwner(table, id)
      const erasures = (await erasureLedger({ table }).list(owner.id)).map((one) => erasureJson(one, owner))
      if (given.to !== undefined)
        writeFileSync(
          resolveFromInvocationDir(given.to),
          erasures.map((one) => `${JSON.stringify(one)}\n`).join(''),
          { mode: 0o600 },
        )
      const rows = erasures.map(({ erased_at, patient_id, operator, is_finished }) => [
        erased_at,
        patient_id,
        operator,
        is_finished ? '' : 'interrupted: erase the patient again',
      ])
      const { deletion } = owner
      const deleted = deletion && { at: utcTime(deletion.at), by: deletion.operator }
      print(command, { data: erasures, clinic_deleted: deleted }, [
        ...formatTable(rows),
        ...(deleted ? [`The clinic was deleted at ${deleted.at} by ${deleted.by}. Times are in UTC.`] : []),
      ])
    })

  const replay = group
    .command('replay')
    .description('erase the patients again that a restored table has not erased; may be repeated')
    .option('--table <name>', "the restored table, if it is not the stack's yet")
    .requiredOption('--from <file>', 'a file of "erasure list --to", or the access trail')
    .action(async (given: ReplayOptions, command: Command) => {
      const { table, clinic } = await openClinic(command, given.table)
      const erasures = readErasures(resolveFromInvocationDir(given.from), clinic.id)
      // Before the first of them is erased, so that an interrupted replay has them too.
      addToTrail(
        command,
        erasures.map(({ patient }) => ({ patient_id: patient })),
      )
      await confirmReplay(command, erasures, await pendingErasures(table, clinic.id, erasures))
      const counts = await replayErasures(table, clinic.id, erasures)
      const { erased, already_erased, unknown } = counts
      print(command, counts, [
        `${erased} erased, ${already_erased} already erased, ${unknown} unknown to the table`,
      ])
    })
  addConfirmOptions(replay, PATIENT_COUNT)
}

/** The clinic of the ledger. After the deletion of a clinic, only the ledger is left, without a time zone. */
type Owner = { readonly id: ClinicId; readonly timezone: string | null; readonly deletion: Deletion | null }

/** @throws CommandFailure if there is no clinic with this id, and never was one that was deleted */
async function requireOwner(table: Table, id: ClinicId): Promise<Owner> {
  const deletion = await deletedClinics({ table }).find(id)
  const clinic = deletion ? await clinicStore({ table }).find(id) : await requireStoredClinic(table, id)
  // A deletion that was stopped has left the clinic.
  if (clinic) return { id: clinic.id, timezone: clinic.timezone, deletion: null }
  return { id, timezone: null, deletion }
}

const erasureJson = ({ patient, at, operator, importIds, isFinished }: Erasure, owner: Owner) => ({
  clinic_id: owner.id,
  patient_id: patient,
  erased_at: owner.timezone === null ? utcTime(at) : clinicTimestamp(at, owner.timezone),
  operator,
  import_ids: importIds,
  is_finished: isFinished,
})

const utcTime = (instant: string): string => `${instant.slice(0, 19)}Z`

/** The text that the operator types to erase many patients. */
const PATIENT_COUNT = 'the number of patients that are listed for the clinic'

/** Asks for the number of patients that a replay has listed. @throws CommandFailure without it */
async function confirmReplay(
  command: Command,
  listed: readonly Erasure[],
  pending: readonly Erasure[],
): Promise<void> {
  if (pending.length === 0) return
  const count = patientsOf(listed)
  await confirmByTyping(command, {
    what: PATIENT_COUNT,
    text: String(count),
    consequences: [
      `${counted(count, 'patient')} ${count === 1 ? 'is' : 'are'} listed, ${patientsOf(pending)} of whom would be erased permanently, with their upcoming appointments cancelled.`,
    ],
  })
}

const patientsOf = (erasures: readonly Erasure[]): number =>
  new Set(erasures.map(({ patient }) => patient)).size

/** A line of `erasure list --to`. */
const LedgerLine = z.object({
  clinic_id: Uuid,
  patient_id: Uuid,
  erased_at: z.iso.datetime({ offset: true }),
  operator: z.string(),
  import_ids: z.array(Uuid).default([]),
})

/** A line of the access trail about a command that erased patients. */
const TrailLine = z.object({
  clinic_id: Uuid,
  command: z.literal('patient erase'),
  outcome: z.literal('done'),
  records: z.array(Uuid),
  timestamp: z.iso.datetime({ offset: true }),
  operator: z.string(),
})

/**
 * The erasures of a clinic in a file of NDJSON. Lines about anything else are skipped.
 * @throws CommandFailure for a line that is not JSON
 */
export function readErasures(file: string, clinic: ClinicId): Erasure[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((text, index) =>
    text.trim() === '' ? [] : erasuresOf(parse(text, file, index + 1), clinic),
  )
}

function erasuresOf(line: unknown, clinic: ClinicId): Erasure[] {
  const ledger = LedgerLine.safeParse(line).data
  const trail = TrailLine.safeParse(line).data
  if ((ledger ?? trail)?.clinic_id.toLowerCase() !== clinic) return []
  const patients = ledger ? [ledger.patient_id] : (trail?.records ?? [])
  const at = new Date(ledger?.erased_at ?? trail?.timestamp ?? '').toISOString()
  const operator = ledger?.operator ?? trail?.operator ?? ''
  const importIds = (ledger?.import_ids ?? []).map((id) => id.toLowerCase())
  return patients.map((patient) => ({
    patient: patient.toLowerCase(),
    at,
    operator,
    importIds,
    isFinished: true,
  }))
}

function parse(text: string, file: string, line: number): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CommandFailure(`${file}:${line}: is not JSON`)
  }
}
