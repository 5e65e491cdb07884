import { basename } from 'node:path'
import { type Command, Option } from 'commander'
import type { ClinicId, ClinicInfo } from '../../../shared/domain/clinic.ts'
import { partitionPages } from '../../../shared/maintenance/walk/partition-pages.ts'
import { holidayStore, presentImports } from '../../../shared/store/holidays.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { importEntities } from '../import/entities/entities.ts'
import type { ImportableEntity, ImportEntity } from '../import/entities/entity.ts'
import { ExternalRef } from '../import/external-ids/resolve-references.ts'
import { RECORD_KEYS, withOwnRecords } from '../import/external-ids/resolve-rows.ts'
import { cellWriter } from '../import/files/csv-cells.ts'
import { ENCODINGS, type Encoding } from '../import/files/encoding.ts'
import { entityNames, onFiles, requireEntity, requireFile, resolveMap } from '../import/files/import-paths.ts'
import type { SourceRow } from '../import/files/row.ts'
import { readColumnMap } from '../import/maps/column-map.ts'
import type { ColumnMap } from '../import/maps/map-schema.ts'
import { openFile } from '../import/run/file-formats.ts'
import { openClinic } from '../tool/connection.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import { CommandFailure, listPrinter } from '../tool/output.ts'

type Options = { entity?: string; map?: string; encoding?: Encoding }

export function addIdsCommand(command: Command): void {
  command
    .argument('[file]', 'a file that was imported, or will be: rows that cannot be read are left out')
    .option(
      '--entity <name>',
      'only these, such as patients; the entity of the file, if its name does not start with it',
    )
    .option('--map <name>', 'as for import')
    .addOption(new Option('--encoding <name>', 'of the file, if not UTF-8').choices(ENCODINGS))
    .action(onFiles(listIds))
}

async function listIds(given: string | undefined, options: Options, command: Command): Promise<void> {
  const file = given === undefined ? undefined : resolveFromInvocationDir(given)
  if (file !== undefined) requireFile(file)
  const { table, clinic } = await openClinic(command)
  const entities = importEntities(table, Date.now)
  const names = entities.map(({ name }) => name)
  const map = options.map === undefined ? undefined : readColumnMap(resolveMap(options.map), entities)
  const wanted =
    file !== undefined
      ? entityNames(file, options.entity, names, map)
      : options.entity === undefined
        ? names
        : [requireEntity(options.entity, names)]
  const chosen = entities.filter(({ name }) => wanted.includes(name))
  const ids =
    file !== undefined
      ? externalIdsOf(file, chosen, clinic, { map, encoding: options.encoding })
      : storedIds(table, clinic.id, chosen)
  await printIds(
    command,
    ids,
    file === undefined ? 'The clinic has no imported records' : `${basename(file)} has no external ids`,
  )
}

/** Prints them as they are read: a clinic can have more than fit in memory. */
async function printIds(command: Command, ids: AsyncIterable<ListedId>, none: string): Promise<void> {
  const list = listPrinter(command)
  let header = ['entity,external_id,id']
  for await (const { entity, externalId, id } of ids) {
    list.add({ entity, external_id: externalId, id }, [...header, `${entity},${csvCell(externalId)},${id}`])
    header = []
  }
  if (header.length > 0) throw new CommandFailure(`${none}.`)
  list.end()
}

const csvCell = cellWriter(',')

/** An id in the clinic's own system, and the id of the record. */
type ListedId = { readonly entity: string; readonly externalId: string; readonly id: string }

/** The external ids of a file in its order, each with the id of its record, whether or not that was imported yet. */
async function* externalIdsOf(
  file: string,
  entities: readonly ImportableEntity[],
  clinic: ClinicInfo,
  reading: { readonly map: ColumnMap | undefined; readonly encoding: Encoding | undefined },
): AsyncGenerator<ListedId> {
  for (const entity of entities) {
    const keys = await entity.readKeys(clinic.id)
    const own = entity.ownRecords(clinic.id, keys)
    const { records, map } = await openFile({ file, entity }, { clinic, ...reading })
    const idsOf = (row: SourceRow): ListedId | null => {
      const { data: externalId } = ExternalRef.safeParse(
        'values' in row ? map.read(row.values).fields.external_id : null,
      )
      if (externalId === undefined) return null
      return { entity: entity.name, externalId, id: own.idOf(entity.idKind, externalId) }
    }
    for await (const { row: ids } of withOwnRecords(records, idsOf, own)) if (ids) yield ids
  }
}

/** The external ids of all imported records of some entities. A patient who was erased has none. */
export async function* storedIds(
  table: Table,
  clinic: ClinicId,
  entities: readonly Pick<ImportEntity, 'name' | 'idKind'>[],
): AsyncGenerator<ListedId> {
  for (const { name: entity, idKind } of entities) {
    if (idKind === 'holiday') {
      const imports = presentImports(await holidayStore({ table }).read(clinic))
      for (const [id, { externalId }] of Object.entries(imports))
        if (externalId != null) yield { entity, externalId, id }
      continue
    }
    for await (const items of partitionPages(table, RECORD_KEYS[idKind](clinic, '').pk))
      for (const { xi, sk } of items)
        if (typeof xi === 'string') yield { entity, externalId: xi, id: sk as string }
  }
}
