/** Maps of import files: which columns of another system's files hold which fields, and how they write values. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type * as z from 'zod'
import { foldName } from '../../../../shared/domain/closest-name.ts'
import { ImportFileError } from '../files/import-errors.ts'
import { LINE_ITEMS } from '../files/import-paths.ts'
import { type ColumnMap, columnNames, type EntityMap, mapSchema } from './map-schema.ts'

/** The maps that ship with the tool. */
const SHIPPED = import.meta.dirname

export type Entities = readonly { readonly name: string; readonly columns: readonly string[] }[]

/**
 * Reads a map, with what it extends: one that ships with the tool by its name, or a file by its path.
 * @param entities The columns of each entity.
 * @throws ImportFileError that names what is wrong
 */
export function readColumnMap(nameOrPath: string, entities: Entities): ColumnMap {
  const path = findMap(nameOrPath, '')
  if (path === null) throw new ImportFileError(`--map ${nameOrPath}: ${NO_MAP}`)
  return readMap(path, entities, [])
}

const NO_MAP =
  'there is no such file, nor a map of this name. Maps that ship with the tool: cliniko, german, turkish.'

/** The path of a map, relative to a folder; null if there is none. */
function findMap(nameOrPath: string, folder: string): string | null {
  const shipped = join(SHIPPED, `${nameOrPath}.json`)
  if (/^[\w-]+$/.test(nameOrPath) && existsSync(shipped)) return shipped
  const path = resolve(folder, nameOrPath)
  return existsSync(path) && statSync(path).isFile() ? path : null
}

/** @param extending The paths of the maps that extend this one, the first of which was asked for. */
function readMap(path: string, entities: Entities, extending: readonly string[]): ColumnMap {
  const name = basename(path)
  const chain = [...extending, path]
  const file = realpathSync(path)
  // A link leads to the same file by another path.
  if (extending.some((one) => realpathSync(one) === file))
    throw new ImportFileError(`${name} extends itself: ${chain.map((one) => basename(one)).join(', ')}`)
  const read = mapSchema([...entities, LINE_ITEMS]).safeParse(
    withEntities(parseJson(readFileSync(path, 'utf8'), name)),
  )
  if (read.error) throw new ImportFileError(`${name}: ${read.error.issues.map(problemOf).join('; ')}`)
  let map = read.data
  if (map.extends !== undefined) {
    const base = findMap(map.extends, dirname(path))
    if (base === null) throw new ImportFileError(`${name}: extends ${map.extends}: ${NO_MAP}`)
    map = extendedMap(readMap(base, entities, chain), map)
  }
  const problems = problemsOfIds(map)
  if (problems.length > 0) throw new ImportFileError(`${name}: ${problems.join('; ')}`)
  return map
}

/** A map that extends another need not say anything of an entity. */
const withEntities = (map: unknown): unknown =>
  typeof map === 'object' && map !== null && 'extends' in map ? { entities: {}, ...map } : map

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new ImportFileError(`${name}: is not JSON: ${(error as Error).message}`)
  }
}

function problemOf({ path, message, code }: z.core.$ZodIssue): string {
  const at = path.join('.')
  if (code === 'unrecognized_keys') return `${at === '' ? '' : `${at}: `}${message}`
  return `${at === '' ? 'the map' : at} ${message}`
}

/** A joined external id must not lose a column whose invalid values are left out: the corrected row would be another record. */
function problemsOfIds({ entities }: ColumnMap): string[] {
  return Object.entries(entities).flatMap(([name, { columns, optional = [] }]) => {
    const id = columns.external_id
    const joined = id && 'join' in id ? columnNames(id).map(foldName) : []
    return optional
      .filter((field) =>
        columnNames(columns[field] ?? { column: [field] }).some((one) => joined.includes(foldName(one))),
      )
      .map(
        (field) => `entities.${name}.columns.external_id joins a column of ${field}, which may be left out`,
      )
  })
}

/** Both maps as one. Its entries override the entries of the base. */
function extendedMap(base: ColumnMap, { extends: _, ...own }: ColumnMap): ColumnMap {
  const entities = Object.entries(own.entities).map(([name, map]) => {
    const inherited = base.entities[name]
    return [name, inherited ? extendedEntity(inherited, map) : map] as const
  })
  return { ...base, ...own, entities: { ...base.entities, ...Object.fromEntries(entities) } }
}

function extendedEntity(base: EntityMap, own: EntityMap): EntityMap {
  // A field has a column or a constant.
  const columns = without(base.columns, Object.keys(own.constants))
  const constants = without(base.constants, Object.keys(own.columns))
  return {
    ...base,
    ...own,
    columns: { ...columns, ...own.columns },
    constants: { ...constants, ...own.constants },
    ignore: base.ignore === 'others' || own.ignore === 'others' ? 'others' : [...base.ignore, ...own.ignore],
    values: {
      ...base.values,
      ...Object.fromEntries(
        Object.entries(own.values).map(([field, texts]) => [
          field,
          { ...without(base.values[field] ?? {}, Object.keys(texts), foldName), ...texts },
        ]),
      ),
    },
  }
}

function without<Value>(
  entries: Readonly<Record<string, Value>>,
  names: readonly string[],
  comparable: (name: string) => string = (name) => name,
): Record<string, Value> {
  const removed = new Set(names.map(comparable))
  return Object.fromEntries(Object.entries(entries).filter(([name]) => !removed.has(comparable(name))))
}
