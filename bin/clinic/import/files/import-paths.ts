/** The files that an import is given. */
import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { resolveFromInvocationDir } from '../../tool/invocation-path.ts'
import { CommandFailure } from '../../tool/output.ts'
import { ImportFileError } from './import-errors.ts'
import { requireExtension } from './rows.ts'

/** The name and columns of files with line items of the invoices in other files. */
export const LINE_ITEMS = { name: 'line-items', columns: ['line_items'] } as const

/** A command on files: what is wrong with one of them as a whole ends the command. @throws CommandFailure */
export const onFiles =
  <Args extends unknown[]>(action: (...args: Args) => Promise<void>) =>
  (...args: Args): Promise<void> =>
    action(...args).catch((error) => {
      throw error instanceof ImportFileError ? new CommandFailure(error.message) : error
    })

/** A name without a folder or an extension is the name of a map that ships with the tool. */
export const resolveMap = (map: string): string =>
  /^[\w-]+$/.test(map) ? map : resolveFromInvocationDir(map)

/** @throws CommandFailure unless it is a file that can be imported */
export function requireFile(file: string): void {
  requireExtension(file)
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found) throw new CommandFailure(`${file} does not exist`)
  if (!found.isFile()) throw new CommandFailure(`${file} is not a file`)
}

/** The SHA-256 of a file. */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

/** Whether a file's name begins with an entity, followed by no letter (`patients-2026.csv`). */
export const isNamedAfter = (fileName: string, entity: string): boolean =>
  fileName.toLowerCase().startsWith(entity.toLowerCase()) && !/^\p{L}/u.test(fileName.slice(entity.length))

/** What the names of the files of each entity begin with. */
type FileNames = {
  readonly entities: { readonly [entity: string]: { readonly file?: readonly string[] | undefined } }
}

/** The entities of a file: `--entity`, or those whose files the map names so, or that its name begins with unless the map has other names. */
export function entityNames(
  file: string,
  wanted: string | undefined,
  names: readonly string[],
  map: FileNames | undefined,
): string[] {
  if (wanted !== undefined) return [requireEntity(wanted, names)]
  const found = names.filter((entity) =>
    (map?.entities[entity]?.file ?? [entity]).some((name) => isNamedAfter(basename(file), name)),
  )
  if (found.length > 0) return found
  throw new CommandFailure(
    `${file}: cannot tell the entity from the file name: rename the file, or use --entity. ${validEntities(names)}`,
  )
}

/** The entity that `--entity` names. */
export function requireEntity(wanted: string, names: readonly string[]): string {
  if (!names.includes(wanted))
    throw new CommandFailure(`--entity: unknown entity ${wanted}. ${validEntities(names)}`)
  return wanted
}

const validEntities = (names: readonly string[]): string => `Valid entities are ${names.join(', ')}.`
