import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, expect, inject, it, vi } from 'vitest'
import { inputsOf, KeptFiles } from '../../../infra/kept/kept-files.ts'

let project: string
let folder: string

const write = (path: string, content: string) => {
  mkdirSync(dirname(join(project, path)), { recursive: true })
  writeFileSync(join(project, path), content)
}

/** As the next process opens them. Its code was loaded after the last change. */
const reopened = (since = Number.MAX_SAFE_INTEGER) => new KeptFiles(folder, since, project)

const INPUTS = ['functions/get-room.ts', 'shared/rooms.ts', 'node_modules/uuid/index.js', 'docs', 'gone.ts']
const versions = () => join(folder, 'get-room')
const keep = (content: string, settings: unknown = 'cjs', kept = reopened()) =>
  kept.keep([{ name: 'get-room', settings, inputs: INPUTS, files: { 'index.js': Buffer.from(content) } }])
const found = (settings: unknown = 'cjs') => {
  const content = reopened().find('get-room', settings)?.['index.js']
  return content && String(content)
}

beforeEach(() => {
  project = mkdtempSync(join(inject('runFolder'), 'kept-files-'))
  folder = join(project, 'node_modules/.cache/kept')
  for (const path of INPUTS.filter((input) => input.includes('/'))) write(path, 'old')
  for (const path of ['docs/a.md', 'package-lock.json', 'tsconfig.json']) write(path, 'old')
})

it.each([
  'functions/get-room.ts',
  'shared/rooms.ts',
  'node_modules/uuid/index.js',
  'docs/a.md',
  'docs/guides/new.md',
  'gone.ts',
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
  'tsconfig.json',
  'infra/kept/kept-files.ts',
])('makes files again when %s is another, and finds both versions', (path) => {
  keep('first')
  write(path, 'new')
  expect(found()).toBeUndefined()
  keep('second')
  expect(found()).toBe('second')
  if (path.startsWith('shared')) {
    write(path, 'old')
    expect(found()).toBe('first')
    rmSync(join(project, path))
    expect(found()).toBeUndefined()
  }
})

it('makes files again for other settings, and keeps those of the last three versions', () => {
  for (const settings of ['a', 'b', 'c', 'd']) keep(settings, settings)
  expect(['a', 'b', 'c', 'd', 'e'].filter((settings) => found(settings) === settings).length).toBe(3)
  expect(readdirSync(join(folder, 'get-room')).length).toBe(3)
})

it('makes files again when their list lacks one', () => {
  keep('content')
  const file = join(versions(), readdirSync(versions())[0] ?? '', 'list.json')
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), files: {} }))
  expect(reopened().find('get-room', 'cjs')).toBeUndefined()
})

it('counts no unfinished version, and removes those of processes that have ended', () => {
  for (const settings of ['a', 'b', 'c']) keep(settings, settings)
  for (const name of ['unfinished-1', 'unfinished-2', 'unfinished-3']) mkdirSync(join(versions(), name))
  utimesSync(join(versions(), 'unfinished-1'), 0, 0)
  keep('c', 'c')
  expect(['a', 'b', 'c'].map(found)).toEqual(['a', 'b', 'c'])
  const unfinished = readdirSync(versions()).filter((name) => name.startsWith('unfinished-'))
  expect(unfinished.sort()).toEqual(['unfinished-2', 'unfinished-3'])
})

it.each(['index.js', 'list'])('makes files again when the stored %s is damaged', (damaged) => {
  keep('content')
  const [entry = ''] = readdirSync(join(folder, 'get-room'))
  const files = readdirSync(join(folder, 'get-room', entry))
  const file = files.find((name) => (name === 'list.json') === (damaged === 'list')) ?? ''
  truncateSync(join(folder, 'get-room', entry, file), 3)
  expect(found()).toBeUndefined()
  keep('content')
  expect(found()).toBe('content')
  expect(readFileSync(join(folder, 'get-room', entry, file)).length).toBeGreaterThan(3)
})

it('does not keep files when an input has changed while they were made', () => {
  const kept = reopened(Date.now() + 1000)
  kept.find('get-room', 'cjs')
  keep('made from old', 'cjs', kept)
  expect(found()).toBe('made from old')
  const next = reopened(Date.now() - 1000)
  write('shared/rooms.ts', 'new')
  keep('made from old', 'cjs', next)
  expect(found()).toBeUndefined()
})

it('does not keep files when an input was removed while they were made', async () => {
  for (const path of ['shared/rooms.ts', 'docs']) {
    // Times of files are not those of this clock.
    await vi.waitUntil(() => Date.now() > statSync(join(project, dirname(path))).ctimeMs + 300)
    const kept = reopened(Date.now())
    rmSync(join(project, path), { recursive: true })
    keep('made from the removed', 'cjs', kept)
    expect(found()).toBeUndefined()
  }
})

it('finds what a bundle is made of, with modules that it leaves out and settings of their folders', () => {
  const imports = (...paths: string[]) => ({
    bytes: 1,
    imports: paths.map((path) => ({ path, kind: 'import-statement' as const, external: path === 'node:fs' })),
  })
  const inputs = {
    'functions/a.ts': imports('shared/rooms/a.ts', 'node:fs'),
    'functions/b.ts': imports('shared/b.ts'),
    'shared/rooms/a.ts': imports('node_modules/@middy/core/index.js'),
    'shared/b.ts': imports(),
    'node_modules/@middy/core/index.js': imports('node_modules/@middy/core/node_modules/uuid/x/y.js'),
    'node_modules/@middy/core/node_modules/uuid/x/y.js': imports(),
  }
  expect(inputsOf({ inputs, outputs: {} }, 'functions/a.ts')).toEqual([
    'functions/a.ts',
    'shared/rooms/a.ts',
    'node_modules/@middy/core/index.js',
    'node_modules/@middy/core/node_modules/uuid/x/y.js',
    'functions/package.json',
    'functions/tsconfig.json',
    'shared/rooms/package.json',
    'shared/rooms/tsconfig.json',
    'shared/package.json',
    'shared/tsconfig.json',
    'node_modules/@middy/core/package.json',
    'node_modules/@middy/package.json',
    'node_modules/@middy/core/node_modules/uuid/x/package.json',
    'node_modules/@middy/core/node_modules/uuid/package.json',
  ])
})
