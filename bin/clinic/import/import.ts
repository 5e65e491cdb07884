import type { Command } from 'commander'
import { keysOf } from '../../../shared/domain/keys-of.ts'
import { withSource } from '../../../shared/store/table/table.ts'
import { addYesOption, confirm } from '../tool/confirmation.ts'
import { openClinic } from '../tool/connection.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import { CommandFailure, type GlobalOptions, NeedsAttention, print, printProgress } from '../tool/output.ts'
import { draftConverter } from './draft.ts'
import { digestOf, onFiles, requireFile } from './files/import-paths.ts'
import { ImportFileError } from './files/problems.ts'
import { RejectedRows } from './files/rejections.ts'
import { parseEncoding } from './files/rows.ts'
import { type Conversions, convertFiles } from './run/conversions.ts'
import { fileEntities } from './run/file-entities.ts'
import type { ImportResult } from './run/import-file.ts'
import { type FileImport, importWithProgress } from './run/import-with-progress.ts'
import { withPauses } from './run/patience.ts'
import { SeenIds } from './run/repeated-values.ts'
import {
  conversionLines,
  conversionReport,
  countsText,
  type FileReport,
  itemsLeftLines,
  reportLines,
} from './run/report.ts'
import { trialTable } from './run/trial-table.ts'

type Options = {
  draft: boolean
  entity?: string
  with?: string
  encoding?: string
  check: boolean
  events: boolean
  overwrite: boolean
  allowOverlaps: boolean
  allowSameNumbers: boolean
  yes: boolean
}

export function addImportCommand(command: Command): void {
  command
    .argument(
      '<file...>',
      '.csv, .tsv, .txt, .ndjson or .jsonl files named after their entity: patients.csv, doctors.ndjson',
    )
    .option('--entity <name>', 'entity of the files, if their names do not start with it')
    .option('--check', 'print what an import would do, without personal data, and write nothing', false)
    .option('--draft', 'write move.ts next to the files, with their columns, to be filled in', false)
    .option(
      '--with <module>',
      'a TypeScript module that says what becomes of the rows of files of another system',
    )
    .option('--encoding <name>', 'of the files, if not UTF-8', parseEncoding)
    .option('--events', 'announce events for imported changes', false)
    .option(
      '--overwrite',
      'import changed rows although their records were changed since they were imported',
      false,
    )
    .option('--allow-overlaps', 'import upcoming appointments although their time is taken', false)
    .option('--allow-same-numbers', 'import invoices although other invoices have their numbers', false)
    .action(onFiles(importFiles))
  addYesOption(command)
}

/** Reads all files without writing, asks whether the outcome is right, and imports them. */
async function importFiles(paths: string[], options: Options, command: Command): Promise<void> {
  const files = paths.map(resolveFromInvocationDir)
  for (const file of files) requireFile(file)
  if (options.draft) return draftConverter(command, files, options.encoding)
  const { table, clinic } = await openClinic(command)
  const { with: path, entity, encoding } = options
  using conversions = await convertFiles(files, { path, entity, clinic, encoding })
  const importing = { ...options, clinic, conversions }
  using trial = trialTable(table)
  const found = await importAll(command, { ...importing, table: trial, check: true })
  const itemsLeft = conversions.lineItemsLeft()
  const warnings = itemsLeftLines(itemsLeft)
  const lines = [...conversions.files.flatMap(conversionLines), ...found.flatMap(reportLines), ...warnings]
  if (options.check)
    return finish(command, { conversions, reports: found, itemsLeft }, [...lines, 'Nothing was written.'])
  if (options.yes) printProgress(command, lines.join('\n'))
  await confirm(command, lines)
  for (const [file, digest] of conversions.digests)
    if ((await digestOf(file)) !== digest)
      throw new CommandFailure(
        `${file} was changed since it was read. Nothing was written: run the import again.`,
      )
  const target = withSource(withPauses(table), 'import')
  const done = await importAll(command, { ...importing, table: target, check: false })
  finish(command, { conversions, reports: done, itemsLeft }, [...done.map(summary), ...warnings])
}

type Run = Options & Pick<FileImport, 'table' | 'clinic' | 'conversions'>

async function importAll(command: Command, run: Run): Promise<readonly FileReport[]> {
  const { table, conversions, check } = run
  const reports: FileReport[] = []
  const problems: string[] = []
  using seen = new SeenIds()
  using kept = new DisposableStack()
  const rejectedOf = new Map(conversions.files.map((one) => [one.file, kept.use(new RejectedRows(one))]))
  for (const entity of fileEntities(table, Date.now, run))
    for (const one of conversions.files.filter(({ entities }) => entities.has(entity.name))) {
      const rejected = rejectedOf.get(one.file) as RejectedRows
      reports.push(await importWithProgress(command, one, entity, { ...run, seen, rejected }))
    }
  for (const rejected of rejectedOf.values())
    try {
      if (check) await rejected.requireReplaceable()
      else rejected.finish()
    } catch (error) {
      if (!(error instanceof ImportFileError)) throw error
      problems.push(error.message)
    }
  if (problems.length > 0) throw new ImportFileError(problems.join('\n'))
  return reports
}

type Outcome = {
  readonly conversions: Conversions
  readonly reports: readonly FileReport[]
  readonly itemsLeft: readonly number[]
}

function finish(
  command: Command,
  { conversions, reports, itemsLeft }: Outcome,
  lines: readonly string[],
): void {
  const total = sum(reports)
  const { json, check } = command.optsWithGlobals<GlobalOptions & Options>()
  print(
    command,
    {
      ...total,
      ...(check && { check }),
      line_items_without_invoice: itemsLeft.length,
      ...(json && { files: reports, conversions: conversions.files.map(conversionReport) }),
    },
    lines,
  )
  if (total.rejected > 0) throw new NeedsAttention()
}

function sum(results: readonly ImportResult[]): ImportResult {
  const total: ImportResult = { imported: 0, updated: 0, unchanged: 0, rejected: 0, warnings: 0 }
  for (const result of results) for (const name of keysOf(total)) total[name] += result[name]
  return total
}

const summary = ({ file, entity, corrections, ...result }: FileReport): string =>
  `${file}: ${entity}: ${countsText(result)}${corrections.length > 0 ? ` (see ${corrections.join(' and ')})` : ''}`
