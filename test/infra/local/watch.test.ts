import { mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, it, onTestFinished } from 'vitest'
import { watchSources } from '../../../infra/local/watch.ts'

function sources() {
  const root = mkdtempSync(join(inject('runFolder'), 'sources-'))
  for (const directory of ['functions', 'shared/api', 'infra'])
    mkdirSync(join(root, directory), { recursive: true })
  return { root, save: (file: string) => writeFileSync(join(root, file), String(Math.random())) }
}

it('calls once for several saves in a row, and again for a save during the call', async () => {
  const { root, save } = sources()
  let calls = 0
  const stop = watchSources(async () => {
    calls += 1
    if (calls === 1) save('infra/stack.ts')
  }, root)
  onTestFinished(stop)
  save('functions/a.ts')
  save('shared/api/b.ts')
  await expect.poll(() => calls, { timeout: 4000 }).toBe(2)
  save('shared/notes.md')
  await sleep(400)
  expect(calls).toBe(2)
})

it('calls for every save of an editor that replaces the file, and for files of a new folder', async () => {
  const { root, save } = sources()
  save('functions/a.ts')
  let calls = 0
  const stop = watchSources(async () => {
    calls += 1
  }, root)
  onTestFinished(stop)
  const replace = (file: string) => {
    save(`${file}.tmp`)
    renameSync(join(root, `${file}.tmp`), join(root, file))
  }
  for (const expected of [1, 2, 3]) {
    replace('functions/a.ts')
    await expect.poll(() => calls, { timeout: 4000 }).toBe(expected)
  }
  mkdirSync(join(root, 'shared/new'))
  await sleep(100)
  save('shared/new/b.ts')
  await expect.poll(() => calls, { timeout: 4000 }).toBe(4)
})

it('does not call after it is stopped', async () => {
  const { root, save } = sources()
  let calls = 0
  const stop = watchSources(async () => {
    calls += 1
  }, root)
  save('functions/a.ts')
  await stop()
  await sleep(300)
  expect(calls).toBe(0)
})
