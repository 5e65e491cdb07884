import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Increase it with every change after which the code cannot read what an earlier version stored. */
export const DATA_FORMAT = 8

/**
 * Creates the folder of `--data`, or checks that its data has the format of this version. Folders of the first versions have
 * no `format` file.
 * @throws Error that says what to do when the data has another format
 */
export function openDataFolder(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'format')
  const found = existsSync(file) ? readFileSync(file, 'utf8').trim() : '1'
  if (existsSync(join(folder, 'table.db')) && found !== String(DATA_FORMAT))
    throw new Error(
      `The data in ${folder} has format ${found}; this version uses format ${DATA_FORMAT}. Delete the folder, or use another one.`,
    )
  writeFileSync(file, `${DATA_FORMAT}\n`)
}
