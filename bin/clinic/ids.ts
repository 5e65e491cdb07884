import { basename } from 'node:path'
import { type Command, Option } from 'commander'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { holidayStore, presentImports } from '../../shared/store/holidays.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { placeOf } from './connection.ts'
import { readColumnMap } from './import/column-map.ts'
import { quoteFor } from './import/csv-cells.ts'
import { ENCODINGS, type Encoding } from './import/encoding.ts'
import { importEntities } from './import/entities.ts'
import type { ImportEntity } from './import/entity.ts'
import { externalIdsOf, type ListedId } from './import/external-ids.ts'
import { RECORD_KEYS } from './import/own-records.ts'
import { entityName, onFiles, requireEntity, requireFile, resolveMap } from './import-paths.ts'
import { resolveFromInvocationDir } from './invocation-path.ts'
import { CommandFailure, type GlobalOptions, printLines } from './output.ts'
import { partitionPages } from './verify/partition-pages.ts'

type Options = { clinic: string; entity?: string; map?: string; encoding?: Encoding }

export function addIdsCommand(program: Command): void {
  program
    .command('ids')
    .description(
      "list the ids in the clinic's own system beside those of the records, as CSV: of all imported records, or of the rows of a file",
    )
    .argument('[file]', 'a file that was imported, or will be: rows that cannot be read are left out')
    .requiredOption('--clinic <id>')
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
  const { table, clinic } = await placeOf(options, command)
  const entities = importEntities(table, Date.now)
  const names = entities.map(({ name }) => name)
  const wanted =
    file === undefined
      ? options.entity && requireEntity(options.entity, names)
      : entityName(file, options.entity, names)
  const chosen = entities.filter(({ name }) => wanted === undefined || name === wanted)
  const map = options.map === undefined ? undefined : readColumnMap(resolveMap(options.map), entities)
  const [entity] = chosen
  const ids =
    file !== undefined && entity
      ? externalIdsOf(file, entity, clinic, { map, encoding: options.encoding })
      : storedIds(table, clinic.id, chosen)
  await printIds(
    command,
    ids,
    file === undefined ? 'The clinic has no imported records' : `${basename(file)} has no external ids`,
  )
}

/** Prints them as they are read: a clinic can have more than fit in memory. With `--json`, one object a line. */
async function printIds(command: Command, ids: AsyncIterable<ListedId>, none: string): Promise<void> {
  const { json } = command.optsWithGlobals<GlobalOptions>()
  let count = 0
  for await (const { entity, externalId, id } of ids) {
    if (count === 0 && !json) printLines(command, 'entity,external_id,id')
    count++
    printLines(
      command,
      json
        ? JSON.stringify({ entity, external_id: externalId, id })
        : `${entity},${csvCell(externalId)},${id}`,
    )
  }
  if (count === 0) throw new CommandFailure(`${none}.`)
}

const csvCell = quoteFor(',')

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
        if (externalId !== undefined) yield { entity, externalId, id }
      continue
    }
    for await (const items of partitionPages(table, RECORD_KEYS[idKind](clinic, '').pk))
      for (const { xi, sk } of items)
        if (typeof xi === 'string') yield { entity, externalId: xi, id: sk as string }
  }
}
