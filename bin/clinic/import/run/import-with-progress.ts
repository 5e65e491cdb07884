/** Imports one file for the `import` command, prints how far it is, and returns its reconciliation. */
import { constants } from 'node:os'
import { basename } from 'node:path'
import type { Command } from 'commander'
import type { StoredClinic } from '../../../../shared/store/clinics.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { ImportableEntity } from '../../../../shared/sync/entities/entity.ts'
import { CommandFailure, EXIT } from '../../tool/output.ts'
import { progressBar } from '../../tool/progress.ts'
import type { RejectedRows } from '../files/rejections.ts'
import { announceImport } from './announce-import.ts'
import type { Conversions } from './conversions.ts'
import { LINE_ITEMS } from './file-entities.ts'
import { type ImportOptions, type ImportProgress, ImportStopped, importFile } from './import-file.ts'
import { countsText, type FileReport } from './report.ts'

/** The target and the options of the import of a file. */
export type FileImport = {
  readonly table: Table
  readonly clinic: StoredClinic
  readonly check: boolean
  readonly conversions: Conversions
  readonly rejected: RejectedRows
} & Pick<ImportOptions, 'seen' | 'overwrite' | 'allowOverlaps' | 'allowSameNumbers'>

/** Imports a file. If it does not get to its end, says how far it got. */
export async function importWithProgress(
  command: Command,
  file: string,
  entity: ImportableEntity,
  { table, clinic, check, conversions, ...options }: FileImport,
): Promise<FileReport> {
  const { content, rows: read } = conversions.of(file)
  const bar = progressBar(command, basename(file), read.read)
  let latest: ImportProgress | undefined
  const sayStopped = () => {
    if (latest && !check)
      bar.printLine(
        `${file}: stopped after ${latest.rows} rows: ${countsText(latest.result)}. Run it again to continue.`,
      )
  }
  using interruption = interruptible(sayStopped)
  try {
    const result = await importFile({ file, conversions }, entity, clinic, {
      now: Date.now,
      ...options,
      isTrial: check,
      signal: interruption.signal,
      onProgress: (progress) => {
        latest = progress
        bar.show(progress.rows)
      },
      onWait: () =>
        bar.printLine(
          `${file}: the store is busy or unavailable; waiting up to ten minutes at a time. If the local stack was started again, press Ctrl-C and repeat the import: the store has another address`,
        ),
    })
    if (!check && entity.name !== LINE_ITEMS)
      await announceImport(table, clinic, entity.name, { content, counts: result })
    return {
      file: check ? basename(file) : file,
      entity: entity.name,
      ...result,
      corrections: !check && result.rejected > 0 ? [options.rejected.path] : [],
    }
  } catch (error) {
    sayStopped()
    if (error instanceof ImportStopped)
      throw new CommandFailure(check ? 'Interrupted. Nothing was written.' : 'Interrupted.', EXIT.interrupted)
    throw error
  } finally {
    bar.done()
  }
}

const ENDINGS = ['SIGTERM', 'SIGHUP'] as const

/**
 * A signal that is aborted by Ctrl-C, once. A second Ctrl-C, or the end of the terminal, ends the process at once, after the listeners
 * of its `exit`.
 * @param onEnd called before the process ends at once
 */
export function interruptible(onEnd: () => void): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController()
  const end = (name: 'SIGINT' | (typeof ENDINGS)[number]) => {
    onEnd()
    process.exit(128 + constants.signals[name])
  }
  const interrupt = () => (controller.signal.aborted ? end('SIGINT') : controller.abort())
  process.on('SIGINT', interrupt)
  for (const name of ENDINGS) process.on(name, end)
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      process.off('SIGINT', interrupt)
      for (const name of ENDINGS) process.off(name, end)
    },
  }
}
