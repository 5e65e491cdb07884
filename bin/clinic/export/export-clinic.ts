/**
 * Exports a clinic in the formats of imports: first all records into a database on disk, then what has changed since, then the
 * files. A stopped export continues where it ended.
 */
import { join } from 'node:path'
import type { Clinic, ClinicId } from '../../../shared/domain/clinic.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import {
  changedId,
  changeIndexPartition,
  changesAfter,
  changesFrom,
} from '../../../shared/store/keys/change-index.ts'
import { STAMP_DELAY_MS } from '../../../shared/store/table/stamp-delay.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import type { Item } from '../../../shared/store/table/write-requests.ts'
import { importEntities } from '../import/entities.ts'
import { formatsOf, writeRows } from './files.ts'
import { type Manifest, openFolder, writeManifest } from './manifest.ts'
import { LARGE_SOURCES, type LargeSource, SMALL_SOURCES } from './sources.ts'
import { Staging } from './staging.ts'

/** Items that are read at a time. */
const PAGE_SIZE = 500

export type ExportOptions = {
  readonly onProgress?: (rows: number) => void
  /** Waits for writes that had begun before the clinic was paused. */
  readonly sleep: (ms: number) => Promise<unknown>
}

/** A record cannot be read. */
export class DamagedRecordError extends Error {}

/**
 * Writes the files of a clinic into a folder.
 * @throws ExportFolderError if the folder cannot be used; DamagedRecordError
 */
export async function exportClinic(
  table: Table,
  clinic: Clinic,
  folder: string,
  { onProgress = () => {}, sleep }: ExportOptions,
): Promise<Manifest> {
  await waitForPause(table, clinic, sleep)
  let manifest = openFolder(folder, clinic, table.now())
  const save = (change: Partial<Manifest>): void => {
    manifest = { ...manifest, ...change }
    writeManifest(folder, manifest)
  }
  using staging = new Staging(join(folder, 'export.db'))
  if (manifest.state === 'reading') {
    for (const source of LARGE_SOURCES) await readAll(table, clinic.id, source, staging, onProgress)
    const from = Date.parse(manifest.started_at) - STAMP_DELAY_MS
    const until = table.now() - STAMP_DELAY_MS
    for (const source of LARGE_SOURCES) {
      const count = await readChanges(table, clinic.id, source, staging, { from, until })
      save({ read_again: manifest.read_again + count })
    }
    for (const { entity, read } of SMALL_SOURCES) {
      const rows = await read(table, clinic.id)
      staging.clear(entity)
      staging.put(entity, rows, entity, 'end')
    }
    const isOneMoment = manifest.read_again === 0 && (await wasPaused(table, clinic.id, manifest.started_at))
    save({
      state: 'writing',
      as_of: new Date(isOneMoment ? table.now() : until).toISOString(),
      is_one_moment: isOneMoment,
    })
  }
  for (const { name: entity, columns } of importEntities(table, table.now)) {
    // A record's own id means nothing in another clinic.
    const exported = ['external_id', ...columns.filter((column) => column !== 'id')]
    for (const format of formatsOf(exported)) {
      const name = `${entity}.${format.extension}`
      if (manifest.files[name] || staging.rows(entity).next().done) continue
      const file = await writeRows(folder, name, format, staging.rows(entity))
      save({ files: { ...manifest.files, [name]: file } })
    }
  }
  staging.delete()
  save({ state: 'finished', finished_at: new Date(table.now()).toISOString() })
  return manifest
}

/** Writes that had begun before a pause are committed at most so much later. */
async function waitForPause(
  table: Table,
  { pausedAt }: Clinic,
  sleep: ExportOptions['sleep'],
): Promise<void> {
  const ms = pausedAt === undefined ? 0 : Date.parse(pausedAt) + STAMP_DELAY_MS - table.now()
  if (ms > 0) await sleep(ms)
}

/** Whether the clinic is paused, and has been since before a time. */
async function wasPaused(table: Table, clinic: ClinicId, since: string): Promise<boolean> {
  const pausedAt = (await clinicStore({ table }).find(clinic))?.pausedAt
  return pausedAt !== undefined && Date.parse(pausedAt) + STAMP_DELAY_MS <= Date.parse(since)
}

/** Reads all records of a kind, from where a stopped export ended. */
async function readAll(
  table: Table,
  clinic: ClinicId,
  source: LargeSource,
  staging: Staging,
  onProgress: (rows: number) => void,
): Promise<void> {
  const { pk } = source.keyOf(clinic, '')
  const name = `${source.entity} read`
  for (let last = staging.position(name); last !== END; ) {
    // No sort key is another one with a space after it.
    const items = await table.query({ pk, ...(last !== undefined && { from: `${last} ` }), limit: PAGE_SIZE })
    const next = items.length < PAGE_SIZE ? END : (items.at(-1) as Item).sk
    staging.put(source.entity, items.map(rowOf(source)), name, next)
    onProgress(items.length)
    last = next
  }
}

/** The position after all records. */
const END = 'end'

/** Reads the records of a kind that have changed since `from`. Returns how many rows are new or different. */
async function readChanges(
  table: Table,
  clinic: ClinicId,
  source: LargeSource,
  staging: Staging,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<number> {
  const pk = changeIndexPartition(clinic, source.kind)
  const name = `${source.entity} changes`
  const positionOf = (ms: number) => changesFrom(new Date(ms).toISOString())
  let changed = 0
  for (let after = staging.position(name) ?? positionOf(from); ; ) {
    const listed = await table.query({ pk, from: after, limit: PAGE_SIZE })
    const items = await table.getMany(listed.map((item) => source.keyOf(clinic, changedId(item))))
    const last = listed.at(-1)
    if (!last) return changed
    after = changesAfter(last.sk)
    // Changes can still appear after `until`: a run that continues reads them again.
    const position = after < positionOf(until) ? after : positionOf(until)
    changed += staging.put(source.entity, items.map(rowOf(source)), name, position)
    if (listed.length < PAGE_SIZE) return changed
  }
}

const rowOf =
  ({ entity, row }: LargeSource) =>
  (item: Item) => {
    try {
      return row(item)
    } catch {
      throw new DamagedRecordError(
        `${item.sk} of the clinic's ${entity} cannot be read. Run "clinic verify", then continue the export.`,
      )
    }
  }
