import { basename } from 'node:path'
import type { Command } from 'commander'
import { withSource } from '../../../shared/store/table/table.ts'
import { addYesOption, confirm } from '../tool/confirmation.ts'
import { openClinic } from '../tool/connection.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import { CommandFailure, type GlobalOptions, NeedsAttention, print, printProgress } from '../tool/output.ts'
import { parseEncoding } from './files/encoding.ts'
import { ImportFileError } from './files/import-errors.ts'
import { digestOf, entityNames, onFiles, requireFile, resolveMap } from './files/import-paths.ts'
import { rowsFile } from './files/rejections.ts'
import { readColumnMap } from './maps/column-map.ts'
import { Aliases } from './run/aliases.ts'
import { draftMap } from './run/draft-map.ts'
import { fileEntities, importableFiles } from './run/file-entities.ts'
import type { ImportResult } from './run/import-file.ts'
import { type FileImport, importWithProgress } from './run/import-with-progress.ts'
import { LineItemFiles } from './run/line-items.ts'
import { withPauses } from './run/pauses.ts'
import { SeenIds } from './run/repeated-values.ts'
import {
  countsText,
  type FileReport,
  itemsLeftLines,
  outsideLines,
  reportLines,
  unpaidLines,
} from './run/report.ts'
import { trialTable } from './run/trial-table.ts'
import { StatedPaid } from './run/unpaid-invoices.ts'

type Options = {
  draft: boolean
  entity?: string
  map?: string
  /** By the name of the file; under an empty name for all others. */
  encoding?: ReadonlyMap<string, string>
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
    .option(
      '--draft',
      'write a map with every column of the files, to be filled in, to --map (map.json next to them), and import nothing',
      false,
    )
    .option('--map <name>', 'how columns and values are named: a JSON file, or cliniko, german or turkish')
    .option(
      '--encoding <name>',
      'of the files, if not UTF-8, or of one of them: patients.csv=windows-1250',
      addEncoding,
    )
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

function addEncoding(text: string, before: ReadonlyMap<string, string> = new Map()): Map<string, string> {
  const at = text.lastIndexOf('=')
  return new Map([...before, [text.slice(0, Math.max(0, at)), parseEncoding(text.slice(at + 1))]])
}

/** Reads all files without writing, asks whether the outcome is right, and imports them. */
async function importFiles(paths: string[], options: Options, command: Command): Promise<void> {
  const files = paths.map(resolveFromInvocationDir)
  for (const file of files) requireFile(file)
  const encodingOf = (file: string) =>
    [...(options.encoding ?? [])].find(([name]) => name !== '' && basename(name) === basename(file))?.[1] ??
    options.encoding?.get('')
  if (options.draft) return draftMap(command, files, { ...options, encodingOf })
  const { table, clinic } = await openClinic(command)
  for (const name of options.encoding?.keys() ?? [])
    if (name !== '' && !files.some((file) => basename(file) === basename(name)))
      throw new CommandFailure(`--encoding ${name}: no such file is imported`)
  const importing = { ...options, clinic, encodingOf }
  const digests = await Promise.all(files.map(digestOf))
  using trial = trialTable(table)
  const found = await importAll(command, files, { ...importing, table: trial, check: true })
  const lines = [...found.reports.flatMap(reportLines), ...found.warnings]
  if (options.check) return finish(command, { ...found, check: true }, [...lines, 'Nothing was written.'])
  if (options.yes) printProgress(command, lines.join('\n'))
  await confirm(command, lines)
  for (const [at, file] of files.entries())
    if ((await digestOf(file)) !== digests[at])
      throw new CommandFailure(
        `${file} was changed since it was read. Nothing was written: run the import again.`,
      )
  const target = withSource(withPauses(table), 'import')
  const done = await importAll(command, files, { ...importing, table: target, check: false })
  finish(command, done, [...done.reports.map(summary), ...done.warnings])
}

type Outcome = {
  readonly reports: readonly FileReport[]
  /** About all files together. */
  readonly warnings: readonly string[]
  readonly counts: Readonly<Record<string, number>>
  readonly check?: boolean
}

type Run = Omit<Options, 'encoding'> &
  Pick<FileImport, 'table' | 'clinic'> & { readonly encodingOf: (file: string) => string | undefined }

async function importAll(command: Command, files: readonly string[], run: Run): Promise<Outcome> {
  const { table, clinic } = run
  using lineItems = new LineItemFiles()
  const entities = importableFiles(fileEntities(table, Date.now, run), lineItems)
  const names = entities.map(({ name }) => name)
  const map = run.map === undefined ? undefined : readColumnMap(resolveMap(run.map), entities)
  const known = new Map(files.map((file) => [file, entityNames(file, run.entity, names, map)]))
  const jobs = entities.flatMap((entity) =>
    files
      .filter((file) => known.get(file)?.includes(entity.name))
      .map((file) => ({ file, entity, encoding: run.encodingOf(file) })),
  )
  for (const { file, entity } of jobs)
    for (const rows of ['rejected', 'left-out'] as const) {
      const path = rowsFile(file, rows, (known.get(file)?.length ?? 0) > 1 ? entity.name : undefined)
      if (files.includes(path))
        throw new CommandFailure(
          `${path} would be replaced by rows of ${file}: import it in a run of its own`,
        )
    }
  const reports: FileReport[] = []
  using statedPaid = new StatedPaid()
  using aliases = new Aliases()
  using seen = new SeenIds()
  const problems: string[] = []
  for (const { file, entity, encoding } of jobs) {
    const job = { ...run, map, aliases, seen, isShared: (known.get(file)?.length ?? 0) > 1, encoding }
    try {
      reports.push(await importWithProgress(command, file, entity, job, statedPaid))
    } catch (error) {
      // A check names what is wrong with all files.
      if (!run.check || !(error instanceof ImportFileError)) throw error
      problems.push(error.message)
    }
  }
  if (problems.length > 0) throw new ImportFileError(problems.join('\n'))
  const unpaid = await statedPaid.withoutPayments(table, clinic.id)
  const itemsLeft = lineItems.withoutInvoice()
  const outside = reports.reduce((count, { appointments_outside }) => count + appointments_outside, 0)
  return {
    reports,
    warnings: [...itemsLeftLines(itemsLeft), ...unpaidLines(unpaid), ...outsideLines(outside, clinic.id)],
    counts: {
      paid_without_payments: unpaid.count,
      line_items_without_invoice: itemsLeft.count,
      appointments_outside: outside,
    },
  }
}

function finish(command: Command, { reports, counts, check }: Outcome, lines: readonly string[]): void {
  const total = sum(reports)
  const { json } = command.optsWithGlobals<GlobalOptions>()
  print(command, { ...total, ...(check && { check }), ...counts, ...(json && { files: reports }) }, lines)
  if (total.rejected > 0) throw new NeedsAttention()
}

function sum(results: readonly ImportResult[]): ImportResult {
  const total: ImportResult = { imported: 0, updated: 0, unchanged: 0, rejected: 0, warnings: 0 }
  for (const result of results)
    for (const name of Object.keys(total) as (keyof ImportResult)[]) total[name] += result[name]
  return total
}

const summary = ({ file, entity, corrections, ...result }: FileReport): string =>
  `${file}: ${entity}: ${countsText(result)}${corrections.length > 0 ? ` (see ${corrections.join(' and ')})` : ''}`
