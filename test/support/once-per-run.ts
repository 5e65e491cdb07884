import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'

const POLL_MS = 50

/**
 * Returns a folder whose content all test files of the run share. The first file that asks for it makes it; files that
 * ask in the meantime wait. The content must not change afterwards.
 * @param make Fills an empty folder. When it fails, the next file that asks tries again.
 */
export async function oncePerRun(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(inject('runFolder'), name)
  const unfinished = `${folder}.unfinished`
  while (!existsSync(folder)) {
    if (!(await claim(unfinished))) {
      await sleep(POLL_MS)
      continue
    }
    try {
      // Another file may have finished between the two checks.
      if (existsSync(folder)) await rm(unfinished, { recursive: true })
      else {
        await make(unfinished)
        await rename(unfinished, folder)
      }
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true })
      throw error
    }
  }
  return folder
}

/** Creates the folder; false if it exists. */
const claim = (folder: string): Promise<boolean> =>
  mkdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false
      throw error
    },
  )
