import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { DATA_FORMAT, openDataFolder as open } from '../../../bin/local/data-folder.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let parent: string
let folder: string
const close: (() => void)[] = []

/** Opens the folder until the end of the test, and closes it before it is opened again. */
function openDataFolder(path: string): void {
  for (const opened of close.splice(0)) opened()
  close.push(open(path))
}

beforeEach(() => {
  parent = temporaryFolder()
  folder = join(parent, 'data')
})
afterEach(() => {
  for (const opened of close.splice(0)) opened()
})

it('creates a new folder, and opens it again', () => {
  openDataFolder(folder)
  writeFileSync(join(folder, 'table.db'), 'data')
  expect(() => openDataFolder(folder)).not.toThrow()
})

it.each(['1', String(DATA_FORMAT + 1)])('rejects data of format %s, and leaves it as it is', (format) => {
  openDataFolder(folder)
  writeFileSync(join(folder, 'table.db'), 'data')
  writeFileSync(join(folder, 'format'), format)
  expect(() => openDataFolder(folder)).toThrow(
    `has format ${format}; this version uses format ${DATA_FORMAT}`,
  )
  expect(readFileSync(join(folder, 'format'), 'utf8')).toBe(format)
})

it('rejects data from before there was a format', () => {
  openDataFolder(folder)
  rmSync(join(folder, 'format'))
  writeFileSync(join(folder, 'table.db'), 'data')
  expect(() => openDataFolder(folder)).toThrow('Delete the folder, or use another one')
})

it('rejects a folder that another runner uses, until that one ends, even by SIGKILL', async () => {
  const module = join(import.meta.dirname, '../../../bin/local/data-folder.ts')
  const script = `import { openDataFolder } from ${JSON.stringify(module)}
    openDataFolder(${JSON.stringify(folder)})
    setInterval(() => {}, 1000)
    console.log('open')`
  const other = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(other.stdout, 'data')
  expect(() => openDataFolder(folder)).toThrow(`${folder} is used by another process`)
  other.kill('SIGKILL')
  await once(other, 'exit')
  expect(() => openDataFolder(folder)).not.toThrow()
})

it('lets only the owner read the data, including data that others could read before', () => {
  const modeOf = (path: string) => statSync(path).mode & 0o777
  openDataFolder(folder)
  const database = join(folder, 'table.db')
  expect([modeOf(folder), modeOf(database)]).toEqual([0o700, 0o600])
  chmodSync(database, 0o644)
  openDataFolder(folder)
  expect(modeOf(database)).toBe(0o600)
})

it('leaves the mode of a folder that exists as it is', () => {
  mkdirSync(folder, { mode: 0o755 })
  openDataFolder(folder)
  expect(statSync(folder).mode & 0o777).toBe(0o755)
})

it.each([
  ['cannot be made', '/proc/x', 'The folder /proc/x of --data cannot be made'],
  [
    'has a parent that cannot be made',
    '/proc/x/y',
    /^The folder \/proc\/x\/y of --data cannot be made \(ENOENT/,
  ],
  ['is a file', '/etc/passwd', 'The folder /etc/passwd of --data cannot be made (EEXIST'],
])('rejects a folder that %s', (_, path, message) => {
  expect(() => openDataFolder(path)).toThrow(message)
})
