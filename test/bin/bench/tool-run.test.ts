import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, it, onTestFinished } from 'vitest'
import { runImport } from '../../../bin/bench/tool-run.ts'
import { freshTable, newClinic } from '../../support/table.ts'

it('imports by the operator tool, with a stand-in for the local stack', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-import-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'patients.csv')
  writeFileSync(file, 'external_id,first_name,last_name\n1,Ada,Kaya\n2,Bo,Lind\n')
  const { table, name } = await freshTable()
  const clinic = await newClinic(table)
  const { result, cpuMilliseconds } = await runImport(inject('dynamodb'), name, clinic.id, file)
  expect(result).toMatchObject({ imported: 2, rejected: 0 })
  expect(cpuMilliseconds).toBeGreaterThan(0)
})
