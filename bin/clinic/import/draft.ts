/** Drafts the converter of files: it lists each of their columns once, and interprets none. */
import { existsSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Command } from 'commander'
import { closestName } from '../../../shared/domain/closest-name.ts'
import { CommandFailure, print } from '../tool/output.ts'
import type { Entities } from './converters/load-converter.ts'
import { isNamedAfter } from './files/import-paths.ts'
import { openRows } from './files/rows.ts'
import { fileColumns } from './run/file-entities.ts'

/** Shapes that are listed of a column, and the letters that are listed of one. */
const MAX_SHAPES = 3
const MAX_LENGTH = 24

/** Different shapes that are counted of a column. */
const MAX_COUNTED = 1000

/**
 * Writes `move.ts`, which does not compile until its fields are filled, and a `tsconfig.json` by which it is checked.
 * @throws CommandFailure if there is a converter already
 */
export async function draftConverter(
  command: Command,
  files: readonly string[],
  encoding: string | undefined,
): Promise<void> {
  const entities = fileColumns()
  const folder = dirname(files[0] ?? '')
  const path = join(folder, 'move.ts')
  if (existsSync(path)) throw new CommandFailure(`${path} exists already: delete it first`)
  const functions: string[] = []
  for (const file of files) {
    const columns = await shapesOf(file, encoding)
    functions.push(functionOf(file, columns, likelyEntity(file, [...columns.keys()], entities)))
  }
  const checkout = join(import.meta.dirname, '../../..')
  // Both files can be moved: their paths are absolute.
  const module = join(import.meta.dirname, 'converters/converter.ts').replaceAll('\\', '/')
  writeFileSync(
    path,
    `import { converter } from '${module}'\n\nexport default converter({\n${functions.join('')}})\n`,
  )
  const project = join(folder, 'tsconfig.json')
  if (!existsSync(project)) {
    const typeRoots = [join(checkout, 'node_modules/@types')]
    const compilerOptions = { module: 'preserve', moduleResolution: 'bundler', typeRoots, incremental: false }
    const config = { extends: join(checkout, 'tsconfig.json'), compilerOptions, include: ['*.ts'] }
    writeFileSync(project, `${JSON.stringify(config, null, 2)}\n`)
  }
  print(command, { converter: path, project }, [
    `${path}: fill in the fields, read or ignore each column, and check it with "npx tsc --project ${folder}"`,
  ])
}

/** The shapes of the cells of each column, the most frequent first: `99.99.9999`. */
async function shapesOf(file: string, encoding: string | undefined): Promise<Map<string, string[]>> {
  const { format, rows } = await openRows(file, encoding)
  const counts = new Map<string, Map<string, number>>()
  if (format.kind === 'csv') for (const name of format.header) counts.set(name, new Map())
  for await (const row of rows)
    for (const [name, value] of Object.entries('values' in row ? row.values : {})) {
      const shapes = counts.get(name) ?? new Map<string, number>()
      counts.set(name, shapes)
      const shape = value === null ? '' : shapeOf(String(value))
      if (shape !== '' && (shapes.has(shape) || shapes.size < MAX_COUNTED))
        shapes.set(shape, (shapes.get(shape) ?? 0) + 1)
    }
  return new Map(
    [...counts].map(([name, shapes]) => {
      const sorted = [...shapes].sort(([, a], [, b]) => b - a)
      return [name, sorted.slice(0, MAX_SHAPES).map(([shape]) => shape)]
    }),
  )
}

/** What a cell looks like, without its letters and digits. */
const shapeOf = (text: string): string =>
  text
    .slice(0, MAX_LENGTH)
    .replace(/\p{Lu}/gu, 'A')
    .replace(/[^\P{L}A]/gu, 'a')
    .replace(/\p{N}/gu, '9')
    .replace(/\s+/g, ' ')

/** The entity that the file is named after, or whose fields most of its columns are called. */
function likelyEntity(file: string, columns: readonly string[], entities: Entities): Entities[number] {
  const named = entities.find(({ name }) => isNamedAfter(basename(file), name))
  const fits = ({ columns: fields }: Entities[number]) =>
    columns.filter((column) => closestName(column, fields) !== undefined).length
  const [likely] = entities.toSorted((a, b) => fits(b) - fits(a))
  const patients = entities.find(({ name }) => name === 'patients')
  return (named ?? (likely && fits(likely) > 0 ? likely : patients)) as Entities[number]
}

function functionOf(
  file: string,
  columns: ReadonlyMap<string, readonly string[]>,
  entity: Entities[number],
): string {
  const comments = [...columns].map(
    ([name, shapes]) => `    // ${[JSON.stringify(name), ...shapes].join('  ').trim()}\n`,
  )
  const fields = ['external_id', ...entity.required].map((field) => `        ${field}: undefined,\n`)
  const stem = basename(file).replace(/\.\w+$/, '')
  return `  ${JSON.stringify(stem)}: (row) => {\n${comments.join('')}    row.ignore()\n    return {\n      ${JSON.stringify(entity.name)}: {\n${fields.join('')}      },\n    }\n  },\n`
}
