/** Drafts the map of files of another system: it lists each of their columns once, and interprets none. */
import { writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Command } from 'commander'
import * as z from 'zod'
import type { Table } from '../../../../shared/store/table/table.ts'
import { importEntities } from '../../../../shared/sync/entities/entities.ts'
import { CommandFailure, print } from '../../tool/output.ts'
import { isNamedAfter, LINE_ITEMS, requireEntity, resolveMap } from '../files/import-paths.ts'
import { openRows } from '../files/rows.ts'
import { mapSchema } from '../maps/map-schema.ts'

type Options = {
  readonly map?: string
  readonly entity?: string
  readonly encodingOf: (file: string) => string | undefined
}

type Draft = { file?: string; columns: object; ignore: string[]; undecided: string[] }

/**
 * Writes a map that an import rejects until each name in `undecided` is moved, and the JSON schema of maps next to it.
 * @throws CommandFailure if the map exists
 */
export async function draftMap(command: Command, files: readonly string[], options: Options): Promise<void> {
  const known = [...importEntities({} as Table, Date.now), LINE_ITEMS]
  const names = known.map(({ name }) => name)
  const path = options.map === undefined ? join(dirname(files[0] ?? ''), 'map.json') : resolveMap(options.map)
  const entities: Record<string, Draft> = {}
  for (const file of files) {
    const stem = basename(file).replace(/\.\w+$/, '')
    const named = names.find((name) => isNamedAfter(stem, name))
    const entity = options.entity === undefined ? (named ?? stem) : requireEntity(options.entity, names)
    const draft = entities[entity] ?? {
      ...(entity !== named && { file: stem }),
      ...{ columns: {}, ignore: [], undecided: [] },
    }
    const columns = await columnsOf(file, options.encodingOf(file))
    draft.undecided = [...new Set([...draft.undecided, ...columns])]
    entities[entity] = draft
  }
  const map = { $schema: './map.schema.json', entities }
  try {
    writeFileSync(path, `${JSON.stringify(map, null, 2)}\n`, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new CommandFailure(`${path} exists already: delete it, or name another file with --map`)
  }
  const schema = join(dirname(path), 'map.schema.json')
  const json = z.toJSONSchema(mapSchema(known), { io: 'input', reused: 'ref' })
  writeFileSync(schema, `${JSON.stringify(json, null, 2)}\n`)
  const unknown = Object.keys(entities).filter((entity) => !names.includes(entity))
  print(command, { map: path, schema }, [
    ...Object.entries(entities).map(([entity, { undecided }]) => `${entity}: ${undecided.length} columns`),
    ...unknown.map((entity) => `Replace "${entity}" by an entity: one of ${names.join(', ')}`),
    `${path}: move each name from "undecided" to "columns", for its field, or to "ignore". ${schema} lets an editor complete and check it`,
  ])
}

async function columnsOf(file: string, encoding: string | undefined): Promise<readonly string[]> {
  const { format, rows, close } = await openRows(file, encoding)
  if (format.kind === 'csv') {
    await close()
    return format.header.filter((name) => name !== '')
  }
  const names = new Set<string>()
  for await (const row of rows)
    if ('values' in row) for (const name of Object.keys(row.values)) names.add(name)
  return [...names]
}
