import { expect, it } from 'vitest'
import { NotPaused } from '../../../shared/maintenance/restore/restore-pause.ts'
import { runMaintenance } from '../../../shared/maintenance/run-maintenance.ts'
import { maintenanceRuns, type QueuedRun } from '../../../shared/maintenance/walk/runs.ts'
import { clinicCredentialKey, clinicDirectoryKey } from '../../../shared/store/keys/clinics.ts'
import { walkKey } from '../../../shared/store/keys/operator.ts'
import { issueCredential } from '../../support/credentials.ts'
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

it('finds credentials that no list has, and rows of the directory that are no clinics', async () => {
  const { table, client, name } = await freshTable()
  const clinic = await newClinic(table)
  const { key } = await issueCredential(table, clinic)
  await table.deleteMany([clinicCredentialKey(clinic.id, key)])
  await table.putMany([{ ...clinicDirectoryKey(clinic.id), sk: `${clinic.id}z` }])
  const runs = maintenanceRuns(table)
  const task = { name: 'verify' } as const
  const run = await runs.start(task)
  const maintenance = { client, tableName: name, openTable: () => table, push: async () => {}, pauseMs: 1 }
  await runMaintenance(maintenance, JSON.stringify({ run: run.id, task }), () => 900_000)
  expect((await runs.find('verify'))?.result).toEqual({ remaining: 2, failed: 0 })
  expect(await runs.findings(run)).toEqual([
    { clinic: clinic.id, kinds: { credential_unlisted: 1 } },
    { clinic: `${clinic.id}z`, kinds: { directory_stray: 1 } },
  ])
})

it('queues what is left a minute before the time-out, and does nothing for a run that has ended', async () => {
  const { table, client, name } = await freshTable()
  for (let clinics = 0; clinics < 3; clinics++) await newClinic(table)
  const runs = maintenanceRuns(table)
  const task = { name: 'verify' } as const
  const message = JSON.stringify({ run: (await runs.start(task)).id, task })
  const queue: QueuedRun[] = []
  const opened: string[] = []
  const invoke = (remainingMs: number) =>
    runMaintenance(
      {
        client,
        tableName: name,
        openTable: (name) => {
          opened.push(name)
          return table
        },
        push: async (next) => queue.push(next),
        pauseMs: 1,
      },
      message,
      () => remainingMs,
    )
  await invoke(59_999)
  expect([(await runs.find('verify'))?.result, queue.map((next) => JSON.stringify(next))]).toEqual([
    undefined,
    [message],
  ])
  await invoke(900_000)
  expect((await runs.find('verify'))?.result).toEqual({ remaining: 0, failed: 0 })
  opened.length = 0
  await invoke(59_999)
  expect([opened.length, queue.length]).toEqual([1, 1])
})

it('stores the format of the table as the result of a migration', async () => {
  const { table, client, name } = await freshTable()
  const runs = maintenanceRuns(table)
  const task = { name: 'migrate', deployedAt: '' } as const
  const maintenance = {
    client,
    tableName: name,
    openTable: () => table,
    push: async () => {},
    migrations: [],
  }
  await runMaintenance(maintenance, JSON.stringify({ run: (await runs.start(task)).id, task }), () => 900_000)
  expect((await runs.find('migrate'))?.result).toEqual({ format: 0 })
})

it('says why a reconciliation failed whose pause has ended, and of other errors the name alone', async () => {
  const [source, restored] = [await freshTable(), await freshTable()]
  await newClinic(source.table)
  const runs = maintenanceRuns(restored.table)
  const task = { name: 'reconcile', table: restored.name, restore: '', isSourceLost: false } as const
  const { id } = await runs.start(task)
  const failing = async (openSource: () => typeof source.table) => {
    const openTable = (name: string) => (name === source.name ? openSource() : restored.table)
    const { client, name } = source
    const body = JSON.stringify({ run: id, task })
    const maintenance = { client, tableName: name, openTable, push: async () => {} }
    const error = await runMaintenance(maintenance, body, () => 900_000).catch((thrown) => thrown)
    return [error.constructor, (await runs.find('reconcile'))?.failure?.text]
  }
  const unpaused = 'a clinic of the table in use is not paused'
  expect(await failing(() => source.table)).toEqual([NotPaused, unpaused])
  const broken = () => {
    throw new Error('the name of a patient')
  }
  expect(await failing(broken)).toEqual([Error, 'Error'])
})
