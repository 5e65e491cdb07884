import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { openClinic } from '../tool/connection.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import { CommandFailure, counted, print } from '../tool/output.ts'
import { progressBar } from '../tool/progress.ts'
import { exportClinic } from './export-clinic.ts'
import type { Manifest } from './manifest.ts'
import { recordCount } from './record-count.ts'

export function addExportCommand(command: Command): void {
  command
    .requiredOption('--out <folder>', 'a new folder')
    .action(async (given: { out: string }, command: Command) => {
      const { table, clinic } = await openClinic(command)
      if (clinic.pausedAt !== undefined && clinic.pauseInEffectAt === undefined)
        throw new CommandFailure(
          `Nothing was done: the pause has not reached every credential. Repeat "clinic pause --clinic ${clinic.id}", then export.`,
        )
      const folder = resolveFromInvocationDir(given.out)
      const bar = progressBar(command, 'export', await recordCount(table, clinic.id))
      let rows = 0
      const onProgress = (read: number) => {
        rows += read
        bar.show(rows)
      }
      const waitForWrites = async (ms: number) => {
        bar.printLine(`export: waiting ${Math.ceil(ms / 1000)} s for writes that had begun before the pause`)
        await sleep(ms)
      }
      try {
        const manifest = await exportClinic(table, clinic, folder, { onProgress, sleep: waitForWrites })
        bar.done()
        print(command, { clinic_id: clinic.id, folder, ...manifest }, summary(folder, manifest))
      } finally {
        bar.done()
      }
    })
}

function summary(folder: string, { files, is_one_moment }: Manifest): string[] {
  const names = Object.entries(files).filter(([name]) => name.endsWith('.ndjson'))
  const counts = names.map(([name, { rows }]) =>
    counted(rows, name.replace('s.ndjson', '').replace('-', ' ')),
  )
  const moment = is_one_moment
    ? 'The clinic was paused: all records are of one moment.'
    : 'The clinic was in use: changes during the export may be missing. For an export of one moment, pause the clinic before.'
  return [`Exported ${counts.join(', ') || 'no records'} to ${folder}`, moment]
}
