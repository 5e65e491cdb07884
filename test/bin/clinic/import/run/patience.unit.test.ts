import { expect, it } from 'vitest'
import { withPauses } from '../../../../../bin/clinic/import/run/patience.ts'
import type { Table } from '../../../../../shared/store/table/table.ts'

it('waits 25 ms after a transaction of an import, before the next one', async () => {
  const steps: unknown[] = []
  const table = { tryTransact: async () => void steps.push('write') } as unknown as Table
  const paused = withPauses(table, async (ms) => void steps.push(ms))
  await paused.tryTransact([])
  await paused.tryTransact([])
  expect(steps).toEqual(['write', 25, 'write', 25])
})
