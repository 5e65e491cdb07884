/**
 * Exports a clinic in the formats of imports: first all records into a database on disk, then the files. They are in a folder of their
 * own until all are complete.
 */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { waitForPause } from '../../../shared/store/clinic-pause.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { VISIBILITY_DELAY_MS } from '../../../shared/store/table/visibility-delay.ts'
import { importEntities } from '../../../shared/sync/entities/entities.ts'
import { makeFolder } from '../../local/data-folder.ts'
import { CommandFailure } from '../tool/output.ts'
import { formatsOf, writeRows } from './files.ts'
import { hasSettings, MANIFEST, type Manifest, settingsOf } from './manifest.ts'
import { haveRecordsChanged, readAll, readSmallLists } from './read-records.ts'
import { LARGE_SOURCES } from './sources.ts'
import { Staging } from './staging.ts'

export type ExportOptions = {
  readonly onProgress?: (rows: number) => void
  /** Used to wait for writes that began before the clinic was paused. */
  readonly sleep: (ms: number) => Promise<unknown>
}

/**
 * Writes the files of a clinic into a new folder.
 * @throws CommandFailure if the folder exists, or the clinic is restored or a record cannot be read; ClinicBeingDeleted
 */
export async function exportClinic(
  table: Table,
  clinic: Clinic,
  folder: string,
  options: ExportOptions,
): Promise<Manifest> {
  if (existsSync(folder)) throw new CommandFailure(`${folder} exists already: choose another folder.`)
  const unfinished = `${resolve(folder)}.unfinished`
  // One that was stopped has left it.
  rmSync(unfinished, { recursive: true, force: true })
  makeFolder(unfinished, '--out')
  try {
    await waitForPause(table, clinic, options.sleep)
    const manifest = await writeFiles(table, clinic, unfinished, options)
    writeFileSync(join(unfinished, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 })
    renameSync(unfinished, folder)
    return manifest
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}

async function writeFiles(
  table: Table,
  clinic: Clinic,
  folder: string,
  { onProgress = () => {} }: ExportOptions,
): Promise<Manifest> {
  requireNotRestored(clinic, clinic)
  const startedAt = table.now()
  const database = join(folder, 'export.db')
  using staging = new Staging(database)
  await readSmallLists(table, clinic.id, staging)
  for (const source of LARGE_SOURCES) await readAll(table, clinic.id, source, staging, onProgress)
  // Small lists are read last, since records refer to them.
  const changedRows = await readSmallLists(table, clinic.id, staging)
  const current = await clinicStore({ table }).requireNotDeleting(clinic.id)
  requireNotRestored(current, clinic)
  // A pause alone is not proof: the operator's commands also change records of a paused clinic.
  const isUnchanged =
    changedRows === 0 &&
    hasSettings(settingsOf(clinic), current) &&
    !(await haveRecordsChanged(table, clinic.id, startedAt))
  const files: Manifest['files'] = {}
  for (const { name: entity, columns } of importEntities(table, table.now)) {
    if (staging.rows(entity).next().done) continue
    for (const format of formatsOf(columns)) {
      const name = `${entity}.${format.extension}`
      files[name] = await writeRows(join(folder, name), format, staging.rows(entity))
    }
  }
  rmSync(database)
  return {
    clinic: settingsOf(current),
    started_at: new Date(startedAt).toISOString(),
    finished_at: new Date(table.now()).toISOString(),
    is_one_moment: isUnchanged && wasPaused(current, startedAt),
    files,
  }
}

/** A restore can remove records that were read: nothing says later that they are gone. @throws CommandFailure */
function requireNotRestored(now: Clinic, before: Clinic): void {
  if (now.replacement || now.restoring)
    throw new CommandFailure('The clinic is being restored: export it afterwards.')
  if (!isDeepStrictEqual(now.restores, before.restores))
    throw new CommandFailure('The clinic was restored since the export began: export it again.')
}

/** Whether the clinic is paused, and all writes that began before the pause were committed by `since`. */
const wasPaused = ({ pauseInEffectAt }: Clinic, since: number): boolean =>
  pauseInEffectAt !== undefined && Date.parse(pauseInEffectAt) + VISIBILITY_DELAY_MS <= since
