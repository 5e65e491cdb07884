import { expect, inject, it } from 'vitest'
import { runImport } from '../../../bin/bench/tool-run.ts'
import { freshTable, newClinic } from '../../support/table.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

it('imports by the operator tool, with a stand-in for the local stack', async () => {
  const { table, name: tableName } = await freshTable()
  const clinic = await newClinic(table)
  const bench = { endpoint: inject('dynamodb') ?? '', tableName, folder: temporaryFolder() }
  const rows = [{ external_id: '1', first_name: 'Ada', last_name: 'Kaya' }]
  const { result, cpuMilliseconds } = await runImport(bench, clinic, 'patients', rows)
  expect(result).toMatchObject({ imported: 1, rejected: 0 })
  expect(cpuMilliseconds).toBeGreaterThan(0)
})
