import { expect, it } from 'vitest'
import { runMaintenance } from '../../../shared/maintenance/run-maintenance.ts'
import { maintenanceRuns, type QueuedRun } from '../../../shared/maintenance/walk/runs.ts'
import { walkKey } from '../../../shared/store/keys/operator.ts'
import { freshTable, newClinic } from '../../support/table.ts'

it('waits for an invocation of the run that it replaced, which would not continue it', async () => {
  const { table, client, name } = await freshTable()
  await newClinic(table)
  const runs = maintenanceRuns(table)
  const task = { name: 'verify' } as const
  const queue: QueuedRun[] = [{ run: (await runs.start(task)).id, task }]
  const invoke = () =>
    runMaintenance(
      { client, tableName: name, openTable: () => table, push: async (next) => queue.push(next), pauseMs: 1 },
      JSON.stringify(queue.shift()),
      () => 900_000,
    )
  const progress = walkKey('maintain', 'verify')
  const hold = () =>
    table.putMany([
      { ...progress, by: 'former', until: Date.now() + 200, begun: '', subject: 'former', segments: [] },
    ])
  await hold()
  const holding = setInterval(hold, 50)
  await invoke()
  clearInterval(holding)
  expect([(await runs.find('verify'))?.result, queue.length]).toEqual([undefined, 1])
  await invoke()
  expect((await runs.find('verify'))?.result).toEqual({ remaining: 0, failed: 0 })
})
