import { mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, it, onTestFinished } from 'vitest'
import { watchFolder } from '../../../bin/dev/watch-folder.ts'

it('calls for every save of an editor that replaces the file, and for files of a new folder', async () => {
  const root = mkdtempSync(join(inject('runFolder'), 'sources-'))
  const save = (file: string) => writeFileSync(join(root, file), String(Math.random()))
  save('a.ts')
  const saved: string[] = []
  onTestFinished(watchFolder(root, (file) => saved.push(file)))
  for (let times = 0; times < 3; times++) {
    saved.length = 0
    save('a.ts.tmp')
    renameSync(join(root, 'a.ts.tmp'), join(root, 'a.ts'))
    await expect.poll(() => saved).toContain(join(root, 'a.ts'))
  }
  mkdirSync(join(root, 'new'))
  await sleep(100)
  save('new/b.ts')
  await expect.poll(() => saved).toContain(join(root, 'new/b.ts'))
})
