import { expect, it } from 'vitest'
import { recordCounts } from '../../../../bin/clinic/export/record-count.ts'
import { isItemOfRecord, itemCount } from '../../../../shared/maintenance/verify/item-count.ts'
import { freshTable } from '../../../support/table.ts'
import { createPractice, runVerification } from './practice.ts'

it('is the number of items that a verification of a clinic without differences reads', async () => {
  const { table } = await freshTable()
  const size = { patients: 5, doctors: 2, appointments: 7, invoices: 4, payments: 3, messages: 6 }
  const { clinic } = await createPractice(table, size)
  const { checked } = await runVerification(table, clinic)
  const read = Object.entries(checked).filter(([what]) => isItemOfRecord(what))
  const counts = await recordCounts(table, clinic)
  expect(itemCount(counts)).toBe(read.reduce((sum, [, count]) => sum + count, 0))
  expect(itemCount(counts)).toBe(5 * 3 + 7 * 5 + 4 * 4 + 3 * 5 + 6 * 4)
})
