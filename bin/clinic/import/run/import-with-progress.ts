/** Imports one file for the `import` command, prints how far it is, and returns its reconciliation. */
import { basename } from 'node:path'
import type { Command } from 'commander'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { importEventDraft } from '../../../../shared/domain/webhooks/event.ts'
import type { StoredClinic } from '../../../../shared/store/clinics.ts'
import { announcedImportKey } from '../../../../shared/store/keys/operator.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { ImportableEntity } from '../../../../shared/sync/entities/entity.ts'
import type { Counts } from '../../../../shared/sync/outcomes/batch-outcomes.ts'
import { CommandFailure, EXIT } from '../../tool/output.ts'
import { progressBar } from '../../tool/progress.ts'
import type { RejectedRows } from '../files/rejections.ts'
import type { Conversions, ConvertedFile } from './conversions.ts'
import { LINE_ITEMS } from './file-entities.ts'
import { type ImportOptions, type ImportProgress, ImportStopped, importFile } from './import-file.ts'
import { retryPatiently } from './patience.ts'
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
  { file, rows }: ConvertedFile,
  entity: ImportableEntity,
  { table, clinic, check, conversions, ...options }: FileImport,
): Promise<FileReport> {
  const bar = progressBar(command, basename(file), rows.read)
  let latest: ImportProgress | undefined
  const done = (): number => (latest ? latest.rows.records + latest.rows.rejected : 0)
  const interruption = new AbortController()
  const sayStopped = (rows: string) => {
    const counts = latest ? `: ${countsText(latest)}` : ''
    if (!check) bar.printLine(`${file}: stopped after ${rows} rows${counts}. Run it again to continue.`)
  }
  const interrupt = () => {
    if (!interruption.signal.aborted) return interruption.abort()
    // A second Ctrl-C ends the process at once: the transaction that is being written may be stored too.
    sayStopped(`at least ${done()}`)
    process.exit(EXIT.interrupted)
  }
  process.on('SIGINT', interrupt)
  try {
    const result = await importFile({ file, conversions }, entity, clinic, {
      now: Date.now,
      ...options,
      isTrial: check,
      signal: interruption.signal,
      onProgress: (progress) => {
        latest = progress
        bar.show(done())
      },
      onWait: () =>
        bar.printLine(
          `${file}: the store is busy or unavailable; waiting up to ten minutes at a time. If the local stack was started again, press Ctrl-C and repeat the import: the store has another address`,
        ),
    })
    if (!check && entity.name !== LINE_ITEMS) await announceImport(table, clinic.id, entity.name, result)
    return {
      file: check ? basename(file) : file,
      entity: entity.name,
      ...result,
      corrections: !check && result.rejected > 0 ? [options.rejected.path] : [],
    }
  } catch (error) {
    if (latest) sayStopped(`${done()}`)
    if (error instanceof ImportStopped)
      throw new CommandFailure(check ? 'Interrupted. Nothing was written.' : 'Interrupted.', EXIT.interrupted)
    throw error
  } finally {
    process.off('SIGINT', interrupt)
    bar.done()
  }
}

/** Announces that a file was imported, whether or not the changes of its records were announced. */
export async function announceImport(
  table: Table,
  clinic: ClinicId,
  entity: string,
  counts: Counts,
): Promise<void> {
  const run = table.newId()
  const key = announcedImportKey(clinic, run)
  const announce = async () => {
    // An earlier attempt was committed, and its response was lost.
    if (await table.get(key)) return
    const changes = new Changeset(table, clinic)
    changes.put(key, 'new')
    changes.announce(run, 1, importEventDraft(entity, counts))
    await changes.commit()
  }
  await retryPatiently(announce, () => {})
}
