import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, inject, it, vi } from 'vitest'
import { loadClinics, loadKeptDemo } from '../../../bin/local/clinics.ts'
import type { KeptFiles } from '../../../infra/kept/kept-files.ts'
import type { SeededStack } from '../../../infra/local/stack.ts'

afterEach(() => vi.useRealTimers())

const CLINICS = [{ id: 'c1', name: 'Kept', timezone: 'UTC', credentials: {} }]

/** Loads the demo that was kept. Returns the settings for which it was looked up. */
async function settingsOf(tableName: string, at?: number): Promise<string> {
  let settings: unknown
  const added: string[] = []
  const kept = {
    find: (_name: string, wanted: unknown) => {
      settings = wanted
      const clinics = Buffer.from(JSON.stringify(CLINICS))
      return { 'table.db': Buffer.from('items'), 'clinics.json': clinics }
    },
  } as unknown as KeptFiles
  const database = { copyTo: () => {}, addFrom: (file: string) => added.push(readFileSync(file, 'utf8')) }
  const stack = { outputs: { TableName: tableName }, database } as unknown as SeededStack
  expect(await loadKeptDemo(stack, kept, at)).toEqual(CLINICS)
  expect(added).toEqual(['items'])
  return JSON.stringify(settings)
}

it('takes the demo that was kept for the same day or time of --at, table, format and Node', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-23T08:00:00Z') })
  const settings = await settingsOf('Clinics')
  vi.setSystemTime('2026-11-23T23:59:59Z')
  expect(await settingsOf('Clinics')).toBe(settings)
  expect(await settingsOf('Clinics', Date.now())).not.toBe(settings)
  expect(await settingsOf('Others')).not.toBe(settings)
  expect(settings).toContain(`"node":"${process.versions.node}"`)
  vi.setSystemTime('2026-11-24T00:00:00Z')
  expect(await settingsOf('Clinics')).not.toBe(settings)
})

it('loads the clinics of a data folder once', async () => {
  const folder = mkdtempSync(join(inject('runFolder'), 'clinics-'))
  const load = vi.fn(async () => CLINICS as never)
  for (let start = 0; start < 2; start++)
    expect(await loadClinics({} as SeededStack, folder, load)).toEqual(CLINICS)
  expect([load.mock.calls.length, existsSync(join(folder, 'demo.json'))]).toEqual([1, true])
})
