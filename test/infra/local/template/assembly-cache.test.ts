import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { buildCached } from '../../../../infra/local/template/assembly-cache.ts'

let project: string
let folder: string
let builds: number

const newFolder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'assembly-cache-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

beforeEach(() => {
  project = newFolder()
  folder = join(newFolder(), 'cache')
  builds = 0
  mkdirSync(join(project, 'functions'))
  writeFileSync(join(project, 'functions', 'a.ts'), 'first')
})

/** Builds into a new directory, and returns what is in it. */
async function build(settings: object = {}, fail = false): Promise<string> {
  const directory = newFolder()
  await buildCached(directory, { project, folder, settings }, async (empty) => {
    builds++
    writeFileSync(join(empty, 'output'), `build ${builds}`)
    if (fail) throw new Error('no')
  })
  return readFileSync(join(directory, 'output'), 'utf8')
}

it('builds once for the same sources and settings', async () => {
  expect([await build(), await build()]).toEqual(['build 1', 'build 1'])
})

describe('builds again', () => {
  const changes: [what: string, change: () => void][] = [
    ['the content of a file', () => writeFileSync(join(project, 'functions', 'a.ts'), 'second')],
    ['a new file', () => writeFileSync(join(project, 'functions', 'b.ts'), '')],
    ['a file in a new folder', () => mkdirWith(join(project, 'shared'), 'c.ts')],
    ['the lockfile', () => writeFileSync(join(project, 'package-lock.json'), '{}')],
  ]
  it.each(changes)('after a change of %s', async (_what, change) => {
    await build()
    change()
    expect(await build()).toBe('build 2')
    expect(await build()).toBe('build 2')
  })

  it('for other settings', async () => {
    expect([await build({ stage: 'dev' }), await build({ stage: 'prod' })]).toEqual(['build 1', 'build 2'])
  })

  it('after a build that failed', async () => {
    await expect(build({}, true)).rejects.toThrow('no')
    expect(await build()).toBe('build 2')
  })
})

it('returns a copy: a change of the output does not change the next', async () => {
  const directory = newFolder()
  await build()
  await buildCached(directory, { project, folder, settings: {} }, async () => {})
  writeFileSync(join(directory, 'output'), 'changed')
  expect(await build()).toBe('build 1')
})

it('ignores packages, tests and data', async () => {
  await build()
  for (const name of ['node_modules', 'test', '.local', 'data']) mkdirWith(join(project, name), 'file')
  mkdirWith(join(project, 'functions', 'node_modules'), 'file')
  expect(await build()).toBe('build 1')
})

function mkdirWith(path: string, name: string): void {
  mkdirSync(path)
  writeFileSync(join(path, name), 'x')
}
