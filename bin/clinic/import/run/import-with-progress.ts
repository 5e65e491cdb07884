/** Imports one file for the `import` command, and prints how far it is, rejected rows and warnings. */
import { statSync } from 'node:fs'
import { constants } from 'node:os'
import { basename } from 'node:path'
import type { Command } from 'commander'
import type { StoredClinic } from '../../../../shared/store/clinics.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { CommandFailure, EXIT } from '../../tool/output.ts'
import { progressBar } from '../../tool/progress.ts'
import type { ImportableEntity } from '../entities/entity.ts'
import type { TextEncoding } from '../files/encoding.ts'
import type { ColumnMap } from '../maps/map-schema.ts'
import type { Aliases } from './aliases.ts'
import { announceImport } from './announce-import.ts'
import { type ImportProgress, type ImportResult, ImportStopped, importFile } from './import-file.ts'
import { countsText, type FileReport, formatFields, GroupedTexts } from './report.ts'
import type { StatedPaid } from './unpaid-invoices.ts'

/** Rejected rows and warnings that are printed per file. The file of rejected rows has all of them. */
const MAX_PRINTED = 10

/** The target and the options of the import of a file. */
export type FileImport = {
  readonly table: Table
  readonly clinic: StoredClinic
  readonly check: boolean
  readonly encoding: TextEncoding | undefined
  readonly map: ColumnMap | undefined
  readonly aliases: Aliases
  readonly isShared: boolean
  readonly overwrite: boolean
  readonly allowOverlaps: boolean
  readonly allowSameNumbers: boolean
}

/** Imports a file. If it does not get to its end, says how far it got. */
export async function importWithProgress(
  command: Command,
  file: string,
  entity: ImportableEntity,
  {
    table,
    clinic,
    check,
    encoding,
    map,
    aliases,
    isShared,
    overwrite,
    allowOverlaps,
    allowSameNumbers,
  }: FileImport,
  statedPaid: StatedPaid,
): Promise<FileReport & ImportResult> {
  const bar = progressBar(command, basename(file), statSync(file).size)
  const reasons = new GroupedTexts()
  const warned = new GroupedTexts()
  let printed = 0
  let printedWarnings = 0
  let outside = 0
  const incomplete = new Set<number>()
  let format = { encoding: '', delimiter: null as string | null }
  let latest: ImportProgress | undefined
  let content = ''
  const printSome = (text: string) => {
    printed++
    if (!check && printed <= MAX_PRINTED) bar.printLine(text)
    if (!check && printed === MAX_PRINTED + 1)
      bar.printLine(`${file}: more rows are rejected: the file of rejected rows has all of them`)
  }
  using interruption = interruptible()
  try {
    const result = await importFile(file, entity, clinic, {
      now: Date.now,
      map,
      aliases,
      encoding,
      isShared,
      overwrite,
      allowOverlaps,
      allowSameNumbers,
      isTrial: check,
      signal: interruption.signal,
      onFormat: (found) => {
        format = formatFields(found)
      },
      onEnd: (digest) => {
        content = digest
      },
      onProgress: (progress) => {
        latest = progress
        bar.show(progress)
      },
      onWait: () =>
        bar.printLine(
          `${file}: the store is busy or unavailable; waiting up to ten minutes at a time. If the local stack was started again, press Ctrl-C and repeat the import: the store has another address`,
        ),
      onRejected: ({ line, reasons: all }) => {
        for (const reason of all) reasons.add(reason, line)
        printSome(`${file}:${line}: ${all.join('; ')}`)
      },
      onWarning: ({ line, kind, text }) => {
        if (kind === 'outside_hours') outside++
        if (kind === 'left_out') incomplete.add(line)
        warned.add(text, line)
        printedWarnings++
        if (!check && printedWarnings <= MAX_PRINTED) bar.printLine(`${file}:${line}: warning: ${text}`)
        if (!check && printedWarnings === MAX_PRINTED + 1)
          bar.printLine(`${file}: more warnings: the same import with --check groups all of them`)
      },
      onAccepted: (row) => {
        if (entity.isStatedPaid?.(row)) statedPaid.add(row.id, { file, line: row.line })
      },
    })
    if (!check && entity.partOf === undefined)
      await announceImport(table, clinic, entity.name, { content, counts: result })
    const rows = latest?.rows ?? 0
    const name = check ? basename(file) : file
    return {
      file: name,
      entity: entity.name,
      rows,
      ...format,
      ...result,
      reasons: reasons.groups,
      warned: warned.groups,
      left_out: incomplete.size,
      appointments_outside: outside,
    }
  } catch (error) {
    if (latest && !check)
      bar.printLine(
        `${file}: stopped after ${latest.rows} rows: ${countsText(latest.result)}. Run it again to continue.`,
      )
    if (error instanceof ImportStopped) throw new CommandFailure('Interrupted.', EXIT.interrupted)
    throw error
  } finally {
    bar.done()
  }
}

const ENDINGS = ['SIGTERM', 'SIGHUP'] as const

/**
 * A signal that is aborted by Ctrl-C, once. A second Ctrl-C, or the end of the terminal, ends the process at once, after the listeners
 * of its `exit`.
 */
export function interruptible(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController()
  const end = (name: 'SIGINT' | (typeof ENDINGS)[number]) => process.exit(128 + constants.signals[name])
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
