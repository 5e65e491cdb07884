import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Increase it with every change after which the code cannot read what an earlier version stored. */
export const DATA_FORMAT = 9

/** Only the owner reads patient data. */
const PRIVATE = { mode: 0o600 }

/**
 * Creates the folder of `--data`, or checks that its data has the format of this version, and reserves it for this
 * process. Folders of the first versions have no `format` file.
 * @returns Releases the folder; the end of the process does so too.
 * @throws Error that says what to do when the data has another format, or another process uses the folder
 */
export function openDataFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const release = lockFolder(folder)
  try {
    const database = join(folder, 'table.db')
    const file = join(folder, 'format')
    const found = existsSync(file) ? readFileSync(file, 'utf8').trim() : '1'
    if (existsSync(database) && found !== String(DATA_FORMAT))
      throw new Error(
        `The data in ${folder} has format ${found}; this version uses format ${DATA_FORMAT}. Delete the folder, or use another one.`,
      )
    writeFileSync(file, `${DATA_FORMAT}\n`)
    // The engine would create it with the mode of the shell; the files next to it get the mode of the database.
    if (!existsSync(database)) writeFileSync(database, '', PRIVATE)
    chmodSync(database, PRIVATE.mode)
    return release
  } catch (error) {
    release()
    throw error
  }
}

/** A lock of the operating system, through SQLite: it ends with the process, even by SIGKILL. */
function lockFolder(folder: string): () => void {
  const lock = new DatabaseSync(join(folder, 'lock'))
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (!/locked/.test((error as Error).message)) throw error
    throw new Error(`${folder} is used by another process. Stop that one first, or use another folder.`)
  }
  return () => lock.close()
}
