import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { changesSince } from '../export/later-changes.ts'
import { ExportFolderError, type Manifest, readManifest } from '../export/manifest.ts'
import { recordCount } from '../export/record-count.ts'
import { operatorOf } from '../tool/command-trail.ts'
import { addConfirmOptions, confirmByTyping } from '../tool/confirmation.ts'
import { connectDynamoDb, openStoredClinic, requireStoredClinic } from '../tool/connection.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import { CommandFailure, counted, print, walkNotices } from '../tool/output.ts'
import { requireNoReplacement } from '../tool/write-guard.ts'
import { removeClinic } from './clinic-removal.ts'

type Options = { export?: string; withoutExport: boolean; table?: string }

/** Adds `clinic delete`. */
export function addDeletionCommand(group: Command): void {
  const command = group
    .command('delete')
    .description(
      'delete a clinic with all its records, credentials and webhooks permanently; may be repeated',
    )
    .option('--export <folder>', 'an export of the clinic whose records are of today')
    .option('--without-export', 'delete it although there may be no copy of its records', false)
    .option('--table <name>', 'a restored table that has the deleted clinic again')
  addConfirmOptions(command, "the clinic's name").action(async (given: Options, self: Command) => {
    const { table, clinic } = await openStoredClinic(self, given.table)
    const { client, tableName } = await connectDynamoDb(self)
    // The rest that a stopped deletion left cannot be exported.
    const needsExport = clinic.deletingAt === undefined && !given.withoutExport
    if (needsExport) await requireCurrentExport(table, clinic, given)
    await confirmByTyping(self, {
      what: "the clinic's name",
      text: clinic.name,
      consequences: await consequences(table, clinic),
    })
    if (given.table === undefined) await requireNoReplacement(table)
    // Others may have changed it while the operator was asked.
    if (needsExport) await requireCurrentExport(table, await requireStoredClinic(table, clinic.id), given)
    const deleted = await removeClinic(
      {
        table,
        client,
        name: given.table ?? tableName,
        operator: operatorOf(self),
        sleep,
        ...walkNotices(self, 'item'),
      },
      clinic,
    )
    print(self, { clinic_id: clinic.id, deleted_items: deleted }, [
      `Deleted clinic ${clinic.name}: ${counted(deleted, 'item')}. Only the ledger of its erasures is left.`,
      'Backups have the clinic until they expire: docs/operate/moving-a-clinic.md says what to do after a restore.',
    ])
  })
}

/** Counts of the records to be deleted, for the operator to compare. */
async function consequences(table: Table, clinic: Clinic): Promise<string[]> {
  const records = await recordCount(table, clinic.id)
  const credentials = await credentialStore({ table, now: table.now }).list(clinic.id)
  return [
    `This deletes clinic ${clinic.name} with ${counted(records, 'record')} and ${counted(credentials.length, 'credential')}.`,
    'It cannot be undone. Its credentials are revoked first.',
  ]
}

/** @throws CommandFailure unless there is an export of today that has everything of the clinic */
async function requireCurrentExport(table: Table, clinic: Clinic, given: Options): Promise<void> {
  await requireNoLaterChange(table, clinic, requireExport(clinic, given, table.now()))
}

/** `asOf`: every change up to this time is in the files. */
type Exported = { readonly folder: string; readonly manifest: Manifest; readonly asOf: string }

/** @throws CommandFailure unless there is an export of today */
function requireExport(clinic: Clinic, { export: given }: Options, now: number): Exported {
  if (given === undefined)
    throw new CommandFailure(
      'Nothing was done. Name an export of today with --export, or use --without-export.',
    )
  const folder = resolveFromInvocationDir(given)
  const manifest = readExport(folder)
  const nothingDone = (problem: string) => new CommandFailure(`Nothing was done: ${problem}.`)
  if (manifest === null) throw nothingDone(`${folder} has no export`)
  if (manifest.clinic.id !== clinic.id) throw nothingDone(`${folder} has the export of another clinic`)
  const { finished_at, as_of: asOf } = manifest
  if (finished_at === null || asOf === null)
    throw nothingDone(`the export in ${folder} is not finished: repeat "export"`)
  const day = (instant: string) => clinicTimestamp(instant, clinic.timezone).slice(0, 10)
  if (day(asOf) !== day(new Date(now).toISOString()))
    throw nothingDone(`the export in ${folder} is of ${day(asOf)}, not of today`)
  const missing = missingFile(folder, manifest)
  if (missing !== null) throw nothingDone(missing)
  return { folder, manifest, asOf }
}

/** @throws CommandFailure if anything that an export has was changed since */
async function requireNoLaterChange(
  table: Table,
  clinic: Clinic,
  { folder, manifest, asOf }: Exported,
): Promise<void> {
  const changed = await changesSince(table, clinic, manifest)
  if (changed.length === 0) return
  throw new CommandFailure(
    `Nothing was done: ${changed.join(', ')} have changed since the export in ${folder}, which is as of ${clinicTimestamp(asOf, clinic.timezone)}. Pause the clinic, wait 20 seconds after the last change, export it into a new folder, and do not resume it; or use --without-export.`,
  )
}

function readExport(folder: string): Manifest | null {
  try {
    return readManifest(folder)
  } catch (error) {
    if (error instanceof ExportFolderError) throw new CommandFailure(`Nothing was done: ${error.message}`)
    throw error
  }
}

/** The problem with a file of an export; null if all files are complete. */
function missingFile(folder: string, { files }: Manifest): string | null {
  const wrong = Object.entries(files).find(
    ([name, { bytes }]) => statSync(join(folder, name), { throwIfNoEntry: false })?.size !== bytes,
  )
  return wrong ? `${join(folder, wrong[0])} is missing, or not as it was exported` : null
}
