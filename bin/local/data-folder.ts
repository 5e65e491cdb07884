import { chmodSync, existsSync, mkdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Increase it with every change after which the code cannot read what an earlier version stored. */
export const DATA_FORMAT = 9

/** Only the owner reads patient data. */
const PRIVATE = { mode: 0o600 }

/** Of the demo clinics and some hours of work. On a full disk, the engine fails every write. */
const MIN_FREE_MB = 50

/**
 * Creates the folder of `--data`, or checks that its data has the format of this version, and reserves it for this
 * process. Folders of the first versions have no `format` file.
 * @returns Releases the folder; the end of the process does so too.
 * @throws Error that says what to do when the folder cannot be made or is full, its data has another format, or another process uses it
 */
export function openDataFolder(folder: string): () => void {
  makeFolder(folder)
  const { bavail, bsize } = statfsSync(folder)
  const freeMb = Math.floor((bavail * bsize) / 1e6)
  if (freeMb < MIN_FREE_MB)
    throw new Error(
      `The disk of ${folder} has ${freeMb} MB left; the data needs ${MIN_FREE_MB} MB. Use another folder.`,
    )
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

/** Makes each parent by itself: a recursive mkdir of Node never ends in /proc. @throws Error with its `path` */
export function makeFolder(folder: string, option = '--data'): void {
  const missing: string[] = []
  for (let path = resolve(folder); !existsSync(`${path}/.`); path = dirname(path)) missing.unshift(path)
  try {
    for (const path of missing) mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const text = `The folder ${folder} of ${option} cannot be made (${(error as Error).message}). Use another one.`
    throw Object.assign(new Error(text), { path: folder })
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
