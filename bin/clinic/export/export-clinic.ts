/**
 * Exports a clinic in the formats of imports: first all records into a database on disk, then what has changed since, then the
 * files. A stopped export continues where it ended.
 */
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { waitForPause } from '../../../shared/store/clinic-pause.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { VISIBILITY_DELAY_MS } from '../../../shared/store/table/visibility-delay.ts'
import { importEntities } from '../import/entities/entities.ts'
import { exportedColumns, formatsOf, writeRows } from './files.ts'
import {
  ExportFolderError,
  hasSettings,
  type Manifest,
  openFolder,
  settingsOf,
  writeManifest,
} from './manifest.ts'
import { readAll, readChanges } from './read-records.ts'
import { readSmallLists, rereadSmallLists } from './small-lists.ts'
import { LARGE_SOURCES } from './sources.ts'
import { Staging } from './staging.ts'

export type ExportOptions = {
  readonly onProgress?: (rows: number) => void
  /** Used to wait for writes that began before the clinic was paused. */
  readonly sleep: (ms: number) => Promise<unknown>
}

/**
 * Writes the files of a clinic into a folder.
 * @throws ExportFolderError if the folder cannot be used; DamagedRecordError; ClinicBeingDeleted if the clinic was deleted
 */
export async function exportClinic(
  table: Table,
  clinic: Clinic,
  folder: string,
  { onProgress = () => {}, sleep }: ExportOptions,
): Promise<Manifest> {
  await waitForPause(table, clinic, sleep)
  let manifest = openFolder(folder, clinic, table.now())
  requireNotRestored(manifest, clinic)
  const save = (change: Partial<Manifest>): void => {
    manifest = { ...manifest, ...change }
    writeManifest(folder, manifest)
  }
  using staging = new Staging(join(folder, 'export.db'))
  await readSmallLists(table, clinic.id, staging)
  for (const source of LARGE_SOURCES) await readAll(table, clinic.id, source, staging, onProgress)
  const from = Date.parse(manifest.started_at) - VISIBILITY_DELAY_MS
  const until = table.now() - VISIBILITY_DELAY_MS
  for (const source of LARGE_SOURCES) {
    const count = await readChanges(table, clinic.id, source, staging, { from, until })
    save({ read_again: manifest.read_again + count })
  }
  // Small lists are read last, since records refer to them.
  const changedRows = await rereadSmallLists(table, clinic.id, staging)
  const current = await clinicStore({ table }).requireNotDeleting(clinic.id)
  requireNotRestored(manifest, current)
  const changedSettings = hasSettings(manifest, current) ? 0 : 1
  save({
    clinic: settingsOf(current),
    read_again: manifest.read_again + changedRows + changedSettings,
  })
  // A pause alone is not proof: the operator's commands also change records of a paused clinic.
  const isOneMoment = manifest.read_again === 0 && wasPaused(current, manifest.started_at)
  save({ state: 'writing', as_of: new Date(until).toISOString(), is_one_moment: isOneMoment })
  for (const { name: entity, columns } of importEntities(table, table.now)) {
    for (const format of formatsOf(exportedColumns(columns))) {
      const name = `${entity}.${format.extension}`
      if (staging.rows(entity).next().done) continue
      const file = await writeRows(folder, name, format, staging.rows(entity))
      save({ files: { ...manifest.files, [name]: file } })
    }
  }
  staging.delete()
  save({ state: 'finished', finished_at: new Date(table.now()).toISOString() })
  return manifest
}

/** A restore can remove records that were read: nothing says later that they are gone. @throws ExportFolderError */
function requireNotRestored(
  { clinic: exported }: Manifest,
  { replacement, restoring, restores = [] }: Clinic,
): void {
  if (replacement || restoring)
    throw new ExportFolderError('The clinic is being restored: export it afterwards.')
  if (!isDeepStrictEqual(restores, exported.restores ?? []))
    throw new ExportFolderError('The clinic was restored since the export began: export it to a new folder.')
}

/** Whether the clinic is paused, and all writes that began before the pause were committed by `since`. */
const wasPaused = ({ pauseInEffectAt }: Clinic, since: string): boolean =>
  pauseInEffectAt !== undefined && Date.parse(pauseInEffectAt) + VISIBILITY_DELAY_MS <= Date.parse(since)
