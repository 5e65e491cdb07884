import { existsSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it, vi } from 'vitest'
import { loadClinics } from '../../../bin/local/clinics.ts'
import type { SeededStack } from '../../../infra/local/stack.ts'

const CLINICS = [{ id: 'c1', name: 'Kept', timezone: 'UTC', credentials: {} }]

it('loads the clinics of a data folder once', async () => {
  const folder = mkdtempSync(join(inject('runFolder'), 'clinics-'))
  const load = vi.fn(async () => CLINICS as never)
  for (let start = 0; start < 2; start++)
    expect(await loadClinics({ endpoints: {}, outputs: {} } as SeededStack, folder, load)).toEqual(CLINICS)
  expect([load.mock.calls.length, existsSync(join(folder, 'demo.json'))]).toEqual([1, true])
})
