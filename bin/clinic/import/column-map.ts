/** Maps of import files: which columns of another system's files hold which fields, and how they write values. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type * as z from 'zod'
import { ImportFileError } from './import-file-error.ts'
import { ColumnMap } from './map-schema.ts'

/** The maps that ship with the tool. */
const SHIPPED = join(import.meta.dirname, 'maps')

/**
 * Reads a map: one that ships with the tool by its name, or a file by its path.
 * @param entities The columns of each entity.
 * @throws ImportFileError that names what is wrong
 */
export function readColumnMap(
  nameOrPath: string,
  entities: readonly { readonly name: string; readonly columns: readonly string[] }[],
): ColumnMap {
  const shipped = join(SHIPPED, `${nameOrPath}.json`)
  const path = /^[\w-]+$/.test(nameOrPath) && existsSync(shipped) ? shipped : nameOrPath
  const name = basename(path)
  if (!existsSync(path))
    throw new ImportFileError(
      `--map ${nameOrPath}: there is no such file, nor a map of this name. Maps that ship with the tool: cliniko, german, turkish.`,
    )
  const { data, error } = ColumnMap.safeParse(parseJson(readFileSync(path, 'utf8'), name))
  const problems = error ? error.issues.map(problemOf) : problemsOfFields(data as ColumnMap, entities)
  if (problems.length > 0) throw new ImportFileError(`${name}: ${problems.join('; ')}`)
  return data as ColumnMap
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new ImportFileError(`${name}: is not JSON: ${(error as Error).message}`)
  }
}

function problemOf({ path, message, ...issue }: z.core.$ZodIssue): string {
  const at = path.join('.')
  if (issue.code === 'unrecognized_keys')
    return `${at === '' ? '' : `${at}: `}unknown key ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`
  return `${at === '' ? 'the map' : at} ${message}`
}

/** What refers to entities and fields that do not exist. */
function problemsOfFields(
  { entities }: ColumnMap,
  known: readonly { readonly name: string; readonly columns: readonly string[] }[],
): string[] {
  return Object.entries(entities).flatMap(([name, map]) => {
    const entity = known.find((one) => one.name === name)
    if (!entity)
      return [`entities.${name}: unknown entity; valid ones are ${known.map((one) => one.name).join(', ')}`]
    const fields = ['external_id', ...entity.columns]
    return (['columns', 'values', 'constants'] as const).flatMap((part) =>
      Object.keys(map[part])
        .filter((field) => !fields.includes(field))
        .map((field) => `entities.${name}.${part}.${field}: ${name} have no such field`),
    )
  })
}
