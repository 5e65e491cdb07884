import { writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { Table } from '../../../shared/store/table/table.ts'
import { openClinic } from '../tool/connection.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import { CommandFailure, type GlobalOptions, NeedsAttention, print } from '../tool/output.ts'
import { importableFiles, importEntities } from './entities/entities.ts'
import { LineItemFiles } from './entities/line-items.ts'
import { ENCODINGS, type Encoding } from './files/encoding.ts'
import { entityNames, onFiles, requireFile, resolveMap } from './files/import-paths.ts'
import { rowsFile } from './files/rejections.ts'
import { readColumnMap } from './maps/column-map.ts'
import { readSamples } from './maps/read-samples.ts'
import { suggestMaps } from './maps/suggest-map.ts'
import { Aliases } from './run/aliases.ts'
import { readFormats } from './run/file-formats.ts'
import type { ImportResult } from './run/import-file.ts'
import { type FileImport, importWithProgress } from './run/import-with-progress.ts'
import { withPauses } from './run/pauses.ts'
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
  suggest: boolean
  entity?: string
  map?: string
  /** By the name of the file; under an empty name for all others. */
  encoding?: ReadonlyMap<string, Encoding>
  check: boolean
  events: boolean
  overwrite: boolean
  allowOverlaps: boolean
  allowSameNumbers: boolean
}

export function addImportCommand(command: Command): void {
  command
    .argument(
      '<file...>',
      '.csv, .tsv, .txt, .ndjson or .jsonl files named after their entity: patients.csv, doctors.ndjson',
    )
    .option('--entity <name>', 'entity of the files, if their names do not start with it')
    .option('--check', 'check everything, write nothing, and print a summary without personal data', false)
    .option(
      '--suggest',
      'write a first map for the files to --map (map.json next to them), and import nothing',
      false,
    )
    .option('--map <name>', 'how columns and values are named: a JSON file, or cliniko, german or turkish')
    .option(
      '--encoding <name>',
      `of the files, if not UTF-8, or of one of them: patients.csv=windows-1250 (${ENCODINGS.join(', ')})`,
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
}

/** @throws InvalidArgumentError for an unknown encoding */
function addEncoding(text: string, before: ReadonlyMap<string, Encoding> = new Map()): Map<string, Encoding> {
  const at = text.lastIndexOf('=')
  const encoding = ENCODINGS.find((name) => name === text.slice(at + 1).toLowerCase())
  if (!encoding) throw new InvalidArgumentError(`Allowed choices are ${ENCODINGS.join(', ')}.`)
  return new Map([...before, [text.slice(0, Math.max(0, at)), encoding]])
}

async function importFiles(paths: string[], given: Options, command: Command): Promise<void> {
  const files = paths.map(resolveFromInvocationDir)
  for (const file of files) requireFile(file)
  if (given.suggest) return suggestMap(command, files, given)
  const { table: stored, clinic } = await openClinic(command)
  using table = given.check ? trialTable(stored) : undefined
  await importAll(command, files, { ...given, table: table ?? withPauses(stored), clinic })
}

/** Writes a map for files of an unknown system, and prints what it is unsure of. */
async function suggestMap(command: Command, files: readonly string[], given: Options): Promise<void> {
  const entities = importEntities({} as Table, Date.now)
  const path = given.map === undefined ? join(dirname(files[0] ?? ''), 'map.json') : resolveMap(given.map)
  const samples = await readSamples(files, (file) => encodingOf(file, given.encoding))
  const suggestions = suggestMaps(samples, entities, given.entity)
  const maps = Object.fromEntries(suggestions.map(({ entity, map }) => [entity, map]))
  try {
    writeFileSync(path, `${JSON.stringify({ entities: maps }, null, 2)}\n`, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new CommandFailure(`${path} exists already: delete it, or name another file with --map`)
  }
  readColumnMap(path, entities)
  print(command, { map: path, files: suggestions.map(({ map: _, ...suggestion }) => suggestion) }, [
    ...suggestions.flatMap(({ files: named, entity, notes }) => [
      `${named.map((file) => basename(file)).join(', ')}: ${entity}`,
      ...notes.map((note) => `  ${note}`),
    ]),
    `${path} is written. Edit it, and check the files with it: import --check --map ${path}`,
  ])
}

type Run = Omit<Options, 'suggest'> & Pick<FileImport, 'table' | 'clinic'>

async function importAll(command: Command, files: readonly string[], run: Run): Promise<void> {
  const { table, clinic, check } = run
  using lineItems = new LineItemFiles()
  const entities = importableFiles(importEntities(table, Date.now, run), lineItems)
  const names = entities.map(({ name }) => name)
  const map = run.map === undefined ? undefined : readColumnMap(resolveMap(run.map), entities)
  const known = new Map(files.map((file) => [file, entityNames(file, run.entity, names, map)]))
  for (const name of run.encoding?.keys() ?? [])
    if (name !== '' && !files.some((file) => basename(file) === basename(name)))
      throw new CommandFailure(`--encoding ${name}: no such file is imported`)
  const jobs = entities.flatMap((entity) =>
    files
      .filter((file) => known.get(file)?.includes(entity.name))
      .map((file) => ({
        file,
        entity,
        encoding: encodingOf(file, run.encoding),
        isShared: (known.get(file)?.length ?? 0) > 1,
      })),
  )
  const formats = await readFormats(jobs, { clinic, map })
  const reports: (FileReport & ImportResult)[] = []
  using statedPaid = new StatedPaid()
  using aliases = new Aliases()
  for (const [at, { file, entity, isShared }] of jobs.entries()) {
    const job = { ...run, map, aliases, isShared, encoding: formats[at] }
    const report = await importWithProgress(command, file, entity, job, statedPaid)
    reports.push(report)
  }
  const unpaid = await statedPaid.withoutPayments(table, clinic.id)
  const total = sum(reports)
  const itemsLeft = lineItems.withoutInvoice()
  const outside = reports.reduce((count, { appointments_outside }) => count + appointments_outside, 0)
  const { json } = command.optsWithGlobals<GlobalOptions>()
  const filesOf = check ? reports : reports.map(withoutDetails)
  print(
    command,
    {
      ...total,
      ...(check && { check }),
      paid_without_payments: unpaid.count,
      line_items_without_invoice: itemsLeft.count,
      appointments_outside: outside,
      ...(json && { files: filesOf }),
    },
    [
      ...reports.flatMap((report, at) =>
        check ? reportLines(report) : summary(report, jobs[at]?.isShared ? report.entity : undefined),
      ),
      ...itemsLeftLines(itemsLeft),
      ...unpaidLines(unpaid),
      ...outsideLines(outside, clinic.id),
      ...(check ? ['Nothing was written.'] : []),
    ],
  )
  if (total.rejected > 0) throw new NeedsAttention()
}

/** The encoding that `--encoding` says for a file. */
const encodingOf = (file: string, stated: Options['encoding'] = new Map()): Encoding | undefined =>
  [...stated].find(([name]) => name !== '' && basename(name) === basename(file))?.[1] ?? stated.get('')

/** The report of a file, without the details that only a check has. */
const withoutDetails = ({
  reasons: _reasons,
  warned: _warned,
  left_out: _left_out,
  rows: _rows,
  encoding: _encoding,
  delimiter: _delimiter,
  ...counts
}: FileReport & ImportResult) => counts

function sum(results: readonly ImportResult[]): ImportResult {
  const total: ImportResult = { imported: 0, updated: 0, unchanged: 0, rejected: 0, warnings: 0 }
  for (const result of results)
    for (const name of Object.keys(total) as (keyof ImportResult)[]) total[name] += result[name]
  return total
}

const summary = ({ file, ...result }: ImportResult & FileReport, entity: string | undefined): string => {
  const written = [
    ...(result.rejected > 0 ? [rowsFile(file, 'rejected', entity)] : []),
    ...(result.left_out > 0 ? [rowsFile(file, 'left-out', entity)] : []),
  ]
  return `${file}: ${countsText(result)}${written.length > 0 ? ` (see ${written.join(' and ')})` : ''}`
}
