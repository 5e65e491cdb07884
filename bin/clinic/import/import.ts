import { type Command, Option } from 'commander'
import { connect, requireClinic } from '../tool/connection.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import { type GlobalOptions, NeedsAttention, print } from '../tool/output.ts'
import { importEntities } from './entities/entities.ts'
import { ENCODINGS, type Encoding } from './files/encoding.ts'
import { entityName, onFiles, requireFile, resolveMap } from './files/import-paths.ts'
import { rejectedFile } from './files/rejections.ts'
import { readColumnMap } from './maps/column-map.ts'
import { readFormats } from './run/file-formats.ts'
import type { ImportResult } from './run/import-file.ts'
import { type FileImport, importWithProgress } from './run/import-with-progress.ts'
import { countsText, type FileReport, outsideLines, reportLines, unpaidLines } from './run/report.ts'
import { trialTable } from './run/trial-table.ts'
import { StatedPaid } from './run/unpaid-invoices.ts'

type Options = {
  clinic: string
  entity?: string
  map?: string
  encoding?: Encoding
  check: boolean
  events: boolean
  overwrite: boolean
  allowOverlaps: boolean
  allowSameNumbers: boolean
}

export function addImportCommand(program: Command): void {
  program
    .command('import')
    .description(
      "import a clinic's records; importing a file again changes nothing, and an interrupted import can be repeated",
    )
    .argument(
      '<file...>',
      '.csv, .ndjson or .jsonl files named after their entity: patients.csv, doctors.ndjson',
    )
    .requiredOption('--clinic <id>')
    .option('--entity <name>', 'entity of the files, if their names do not start with it')
    .option('--check', 'check everything, write nothing, and print a summary without personal data', false)
    .option('--map <name>', 'how columns and values are named: a JSON file, or cliniko, german or turkish')
    .addOption(new Option('--encoding <name>', 'of the files, if not UTF-8').choices(ENCODINGS))
    .option('--events', 'announce events for imported changes', false)
    .option(
      '--overwrite',
      'import changed rows although their records were changed since they were imported',
      false,
    )
    .option('--allow-overlaps', 'import appointments to come although their time is taken', false)
    .option('--allow-same-numbers', 'import invoices although other invoices have their numbers', false)
    .action(onFiles(importFiles))
}

async function importFiles(paths: string[], given: Options, command: Command): Promise<void> {
  const files = paths.map(resolveFromInvocationDir)
  for (const file of files) requireFile(file)
  const stored = await connect(command)
  const clinic = await requireClinic(stored, given.clinic)
  using table = given.check ? trialTable(stored) : undefined
  await importAll(command, files, { ...given, table: table ?? stored, clinic })
}

type Run = Omit<Options, 'clinic'> & Pick<FileImport, 'table' | 'clinic'>

async function importAll(command: Command, files: readonly string[], run: Run): Promise<void> {
  const { table, clinic, check } = run
  const entities = importEntities(table, Date.now, run)
  const names = entities.map(({ name }) => name)
  const map = run.map === undefined ? undefined : readColumnMap(resolveMap(run.map), entities)
  const entityNames = new Map(files.map((file) => [file, entityName(file, run.entity, names)]))
  const jobs = entities.flatMap((entity) =>
    files.filter((file) => entityNames.get(file) === entity.name).map((file) => ({ file, entity })),
  )
  const formats = await readFormats(jobs, { ...run, map })
  const reports: (FileReport & ImportResult)[] = []
  using statedPaid = new StatedPaid()
  for (const [at, { file, entity }] of jobs.entries()) {
    const encoding = formats[at]
    const report = await importWithProgress(command, file, entity, { ...run, map, encoding }, statedPaid)
    reports.push(report)
  }
  const unpaid = await statedPaid.withoutPayments(table, clinic.id)
  const total = sum(reports)
  const outside = reports.reduce((count, { visits_outside }) => count + visits_outside, 0)
  const { json } = command.optsWithGlobals<GlobalOptions>()
  const filesOf = check ? reports : reports.map(withoutDetails)
  print(
    command,
    {
      ...total,
      ...(check && { check }),
      paid_without_payments: unpaid.count,
      visits_outside: outside,
      ...(json && { files: filesOf }),
    },
    [
      ...reports.flatMap((report) => (check ? reportLines(report) : summary(report))),
      ...unpaidLines(unpaid),
      ...outsideLines(outside, clinic.id),
      ...(check ? ['Nothing was written.'] : []),
    ],
  )
  if (total.rejected > 0) throw new NeedsAttention()
}

/** The report of a file, without the details that only a check has. */
const withoutDetails = ({
  reasons: _reasons,
  warned: _warned,
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

const summary = ({ file, ...result }: ImportResult & { file: string }): string =>
  `${file}: ${countsText(result)}${result.rejected > 0 ? ` (see ${rejectedFile(file)})` : ''}`
