/** Changes of a clinic since an export. */
import { createHash } from 'node:crypto'
import type { Clinic, ClinicId } from '../../../shared/domain/clinic.ts'
import { changeIndexPartition, changesFrom, INDEXED_KINDS } from '../../../shared/store/keys/change-index.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { importEntities } from '../../../shared/sync/entities/entities.ts'
import { formatsOf } from './files.ts'
import { hasSettings, type Manifest } from './manifest.ts'
import { readSmallLists } from './read-records.ts'
import { SMALL_SOURCES } from './sources.ts'
import { Staging } from './staging.ts'

/**
 * Names what has changed since a finished export: `records` with an index of changes, small lists by their
 * files, and `settings`.
 */
export async function changesSince(table: Table, clinic: Clinic, manifest: Manifest): Promise<string[]> {
  const hasChanged = await haveRecordsChanged(table, clinic.id, manifest.as_of)
  return [
    ...(hasChanged ? ['records'] : []),
    ...(await changedLists(table, clinic.id, manifest.files)),
    ...(hasSettings(manifest.clinic, clinic) ? [] : ['settings']),
  ]
}

async function haveRecordsChanged(table: Table, clinic: ClinicId, since: string): Promise<boolean> {
  const changes = await Promise.all(
    INDEXED_KINDS.map((kind) =>
      table.query({ pk: changeIndexPartition(clinic, kind), from: changesFrom(since), limit: 1 }),
    ),
  )
  return changes.some((items) => items.length > 0)
}

/** The small lists whose files would be others now. */
async function changedLists(
  table: Table,
  clinic: ClinicId,
  files: Manifest['files'],
): Promise<readonly string[]> {
  using staging = new Staging(':memory:')
  await readSmallLists(table, clinic, staging)
  const lists = importEntities(table, table.now).filter(({ name }) =>
    SMALL_SOURCES.some(({ entity }) => entity === name),
  )
  return lists.flatMap(({ name, columns }) => {
    const [{ extension, line }] = formatsOf(columns)
    const text = [...staging.rows(name)].map(line).join('')
    const exported = files[`${name}.${extension}`]?.sha256
    const isSame = exported ? exported === createHash('sha256').update(text).digest('hex') : text === ''
    return isSame ? [] : [name]
  })
}
