import { expect, inject, it } from 'vitest'
import { measureVerification } from '../../../bin/bench/verification.ts'
import { freshTable } from '../../support/table.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

it('verifies a clinic that it has built, in a process of its own, without differences', async () => {
  const { table, name: tableName } = await freshTable()
  const bench = { endpoint: inject('dynamodb') ?? '', tableName, table, folder: temporaryFolder() }
  const { section, failures } = await measureVerification(bench, [20])
  expect(section).toMatch(/\n\| 200 \| [\d,]+ \| [\d.]+ \| \d+ \|\n$/)
  // The rate of so small a clinic, of which the start of the process takes most, has no bound.
  expect(failures).toEqual([])
})
