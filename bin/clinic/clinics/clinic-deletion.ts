import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import { removeClinic } from '../../../shared/maintenance/clinic-removal.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { hasSettings, readManifest } from '../export/manifest.ts'
import { haveRecordsChanged } from '../export/read-records.ts'
import { recordCount } from '../export/record-count.ts'
import { operatorOf } from '../tool/command-trail.ts'
import { addConfirmOptions, confirmByTyping } from '../tool/confirmation.ts'
import { connectDynamoDb, openStoredClinic, requireStoredClinic } from '../tool/connection.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import { CommandFailure, counted, print, walkNotices } from '../tool/output.ts'
import { requireNoReplacement } from '../tool/write-guard.ts'

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
  // Damaged counts must not keep a clinic from being deleted.
  const records = await recordCount(table, clinic.id).then(
    (count) => counted(count, 'record'),
    () => 'records that cannot be counted',
  )
  const credentials = await credentialStore({ table, now: table.now }).list(clinic.id)
  return [
    `This deletes clinic ${clinic.name} with ${records} and ${counted(credentials.length, 'credential')}.`,
    'It cannot be undone. Its credentials are revoked first.',
  ]
}

/** @throws CommandFailure unless there is an export of today, and the clinic is paused, and was not changed, since before it */
async function requireCurrentExport(table: Table, clinic: Clinic, { export: given }: Options): Promise<void> {
  const nothingDone = (problem: string) => new CommandFailure(`Nothing was done: ${problem}.`)
  if (given === undefined)
    throw new CommandFailure(
      'Nothing was done. Name an export of today with --export, or use --without-export.',
    )
  const folder = resolveFromInvocationDir(given)
  const manifest = readManifest(folder)
  if (manifest.clinic.id !== clinic.id) throw nothingDone(`${folder} has the export of another clinic`)
  const dayOf = (at: string) => clinicTimestamp(at, clinic.timezone).slice(0, 10)
  if (dayOf(manifest.finished_at) !== dayOf(new Date(table.now()).toISOString()))
    throw nothingDone(`the export in ${folder} is of ${dayOf(manifest.finished_at)}, not of today`)
  for (const [name, { bytes }] of Object.entries(manifest.files))
    if (statSync(join(folder, name), { throwIfNoEntry: false })?.size !== bytes)
      throw nothingDone(`${join(folder, name)} is missing, or not as it was exported`)
  const isCurrent =
    manifest.is_one_moment &&
    manifest.clinic.pausedAt === clinic.pausedAt &&
    hasSettings(manifest.clinic, clinic) &&
    !(await haveRecordsChanged(table, clinic.id, Date.parse(manifest.started_at)))
  if (!isCurrent)
    throw nothingDone(
      `the clinic was not paused, or was changed, since the export in ${folder} began. Pause it, wait 20 seconds after the last change, export it into a new folder, and do not resume it; or use --without-export`,
    )
}
