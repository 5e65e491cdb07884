import { basename } from 'node:path'
import type { Command } from 'commander'
import type { ClinicId, ClinicInfo } from '../../../shared/domain/clinic.ts'
import { partitionPages } from '../../../shared/maintenance/walk/partition-pages.ts'
import type { ImportedKind } from '../../../shared/store/external-ids/derive.ts'
import { holidayStore, presentImports } from '../../../shared/store/holidays.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { importEntities } from '../../../shared/sync/entities/entities.ts'
import type { ImportableEntity, ImportEntity } from '../../../shared/sync/entities/entity.ts'
import { ExternalRef } from '../../../shared/sync/external-ids/resolve-references.ts'
import { RECORD_KEYS, withOwnRecords } from '../../../shared/sync/external-ids/resolve-rows.ts'
import { cellWriter } from '../import/files/csv-cells.ts'
import { entityOf, onFiles, requireEntity, requireFile } from '../import/files/import-paths.ts'
import type { SourceRow } from '../import/files/row.ts'
import { parseEncoding } from '../import/files/rows.ts'
import { convertFiles } from '../import/run/conversions.ts'
import { openClinic } from '../tool/connection.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import { CommandFailure, type GlobalOptions, printLines } from '../tool/output.ts'

/** How a file is read. */
export type FileOptions = { entity?: string; with?: string; encoding?: string }

export function addIdsCommand(command: Command): void {
  command
    .argument('[file]', 'a file that was imported, or will be: rows that cannot be read are left out')
    .option(
      '--entity <name>',
      'only these, such as patients; the entity of the file, if its name does not start with it',
    )
    .action(onFiles(listIds))
  addReadingOptions(command)
}

/** Adds the options, besides the entity, of how a file is read. */
export const addReadingOptions = (command: Command): Command =>
  command
    .option('--with <module>', 'as for import')
    .option('--encoding <name>', 'of the file, if not UTF-8', parseEncoding)

async function listIds(given: string | undefined, options: FileOptions, command: Command): Promise<void> {
  const file = given === undefined ? undefined : resolveFromInvocationDir(given)
  if (file !== undefined) requireFile(file)
  const { table, clinic } = await openClinic(command)
  const entities = importEntities(table, Date.now)
  const names = entities.map(({ name }) => name)
  const wanted = options.entity === undefined ? names : [requireEntity(options.entity, names)]
  const ids =
    file !== undefined
      ? idsOfFile(file, names, options, { clinic, entities })
      : storedIds(
          table,
          clinic.id,
          entities.filter(({ name }) => wanted.includes(name)),
        )
  const data: { entity: string; external_id: string; id: string }[] = []
  for await (const { entity, externalId, id } of ids) data.push({ entity, external_id: externalId, id })
  if (data.length === 0)
    throw new CommandFailure(
      file === undefined ? 'The clinic has no imported records.' : `${basename(file)} has no external ids.`,
    )
  const rows = data.map(({ entity, external_id, id }) => `${entity},${csvCell(external_id)},${id}`)
  const { json } = command.optsWithGlobals<GlobalOptions>()
  // Not by print(): the access trail would have every id of the clinic.
  printLines(command, json ? JSON.stringify({ data }) : ['entity,external_id,id', ...rows].join('\n'))
}

const csvCell = cellWriter(',')

/** An id in the clinic's own system, and the id of the record. */
type ListedId = { readonly entity: string; readonly externalId: string; readonly id: string }

export type IdOfRow = ListedId & {
  readonly kind: ImportedKind
  readonly line: number
  /** The row as the map reads it. */
  readonly fields: Readonly<Record<string, unknown>>
}

/**
 * The external ids of a file in its order, each with the id of its record, whether or not that was imported yet.
 * @param names The entities that the file can be of.
 */
export async function* idsOfFile(
  file: string,
  names: readonly string[],
  options: FileOptions,
  { clinic, entities }: { readonly clinic: ClinicInfo; readonly entities: readonly ImportableEntity[] },
): AsyncGenerator<IdOfRow> {
  const { with: path, entity: given, encoding } = options
  using conversions = await convertFiles([file], {
    ...{ path, clinic, encoding },
    entity: path === undefined ? entityOf(file, given, names) : undefined,
  })
  const found = conversions.files.flatMap((one) => [...one.entities]).filter((name) => names.includes(name))
  for (const entity of entities.filter(({ name }) => found.includes(name))) {
    const keys = await entity.readKeys(clinic.id)
    const own = entity.ownRecords(clinic.id, keys)
    const records = conversions.records(file, entity.name)
    const { name, idKind: kind } = entity
    const idsOf = (row: SourceRow): IdOfRow | null => {
      const fields = 'values' in row ? row.values : {}
      const { data: externalId } = ExternalRef.safeParse(fields.external_id)
      if (externalId === undefined) return null
      return {
        entity: name,
        kind,
        line: row.line,
        fields,
        externalId: externalId.normalize(),
        id: own.idOf(kind, externalId),
      }
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
      for (const { xi, sk } of items) if (typeof xi === 'string') yield { entity, externalId: xi, id: sk }
  }
}
