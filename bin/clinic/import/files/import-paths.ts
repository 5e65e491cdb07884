/** The files that an import is given. */
import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { CommandFailure } from '../../tool/output.ts'
import { ImportFileError } from './problems.ts'
import { requireExtension } from './rows.ts'

/** A command on files: what is wrong with one of them as a whole ends the command. @throws CommandFailure */
export const onFiles =
  <Args extends unknown[]>(action: (...args: Args) => Promise<void>) =>
  (...args: Args): Promise<void> =>
    action(...args).catch((error) => {
      throw error instanceof ImportFileError ? new CommandFailure(error.message) : error
    })

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

/** Whether a file's name begins so, followed by no letter (`patients-2026.csv`). */
export function isNamedAfter(fileName: string, beginning: string): boolean {
  // Some file systems decompose accents.
  const [name, start] = [fileName, beginning].map((text) => text.normalize()) as [string, string]
  return name.toLowerCase().startsWith(start.toLowerCase()) && !/^\p{L}/u.test(name.slice(start.length))
}

/** The entity of a file: `--entity`, or the one that its name begins with. */
export function entityOf(file: string, wanted: string | undefined, names: readonly string[]): string {
  if (wanted !== undefined) return requireEntity(wanted, names)
  const found = names.find((entity) => isNamedAfter(basename(file), entity))
  if (found !== undefined) return found
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
