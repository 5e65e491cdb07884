import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { DATA_FORMAT, openDataFolder } from '../../../bin/local/data-folder.ts'

let parent: string
let folder: string

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'data-folder-'))
  folder = join(parent, 'data')
})
afterEach(() => rmSync(parent, { recursive: true }))

it('creates a new folder, and opens it again', () => {
  openDataFolder(folder)
  writeFileSync(join(folder, 'table.db'), 'data')
  expect(() => openDataFolder(folder)).not.toThrow()
})

it.each(['1', String(DATA_FORMAT + 1)])('refuses data of format %s, and leaves it as it is', (format) => {
  openDataFolder(folder)
  writeFileSync(join(folder, 'table.db'), 'data')
  writeFileSync(join(folder, 'format'), format)
  expect(() => openDataFolder(folder)).toThrow(
    `has format ${format}; this version uses format ${DATA_FORMAT}`,
  )
  expect(readFileSync(join(folder, 'format'), 'utf8')).toBe(format)
})

it('refuses data from before there was a format', () => {
  openDataFolder(folder)
  rmSync(join(folder, 'format'))
  writeFileSync(join(folder, 'table.db'), 'data')
  expect(() => openDataFolder(folder)).toThrow('Delete the folder, or use another one')
})
