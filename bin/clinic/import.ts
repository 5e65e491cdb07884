import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { type Command, Option } from 'commander'
import type { Clinic } from '../../shared/domain/clinic.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { connect, requireClinic } from './connection.ts'
import { announceImport } from './import/announce-import.ts'
import { readColumnMap } from './import/column-map.ts'
import { ENCODINGS, type Encoding, type TextEncoding } from './import/encoding.ts'
import { importEntities } from './import/entities.ts'
import type { ImportableEntity } from './import/entity.ts'
import { readFormats } from './import/file-formats.ts'
import { GroupedTexts } from './import/grouped-texts.ts'
import { type ImportProgress, type ImportResult, ImportStopped, importFile } from './import/import-file.ts'
import type { ColumnMap } from './import/map-schema.ts'
import { rejectedFile } from './import/rejections.ts'
import { countsText, type FileReport, formatFields, reportLines } from './import/report.ts'
import { trialTable } from './import/trial-table.ts'
import { StatedPaid } from './import/unpaid-invoices.ts'
import { entityName, requireFile, resolveMap } from './import-paths.ts'
import { interruptible } from './interruption.ts'
import { resolveFromInvocationDir } from './invocation-path.ts'
import { CommandFailure, EXIT, type GlobalOptions, NeedsAttention, print } from './output.ts'
import { progressBar } from './progress.ts'

/** Rejected rows and warnings that are printed per file. The file of rejected rows has all of them. */
const MAX_PRINTED = 10

type Options = {
  clinic: string
  entity?: string
  map?: string
  encoding?: Encoding
  check: boolean
  events: boolean
  overwrite: boolean
  allowOverlaps: boolean
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
    .option('--allow-overlaps', 'import visits to come although their time is taken', false)
    .action(async (paths: string[], given: Options, command: Command) => {
      const files = paths.map(resolveFromInvocationDir)
      for (const file of files) requireFile(file)
      const stored = await connect(command)
      const clinic = await requireClinic(stored, given.clinic)
      using table = given.check ? trialTable(stored) : undefined
      await importAll(command, files, { ...given, table: table ?? stored, clinic })
    })
}

type Run = Omit<Options, 'clinic'> & { readonly table: Table; readonly clinic: Clinic }

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
    const detected = formats[at]
    const report = await importWithProgress(command, file, entity, { ...run, map, detected }, statedPaid)
    if (!check) await announceImport(table, clinic.id, entity.name, report)
    reports.push(report)
  }
  const unpaid = await statedPaid.withoutPayments(table, clinic.id)
  const total = sum(reports)
  const { json } = command.optsWithGlobals<GlobalOptions>()
  const filesOf = check
    ? reports
    : reports.map(({ reasons: _, warned: __, rows: ___, encoding: ____, delimiter: _____, ...rest }) => rest)
  print(
    command,
    {
      ...total,
      ...(check && { check }),
      paid_without_payments: unpaid.count,
      ...(json && { files: filesOf }),
    },
    [
      ...reports.flatMap((report) => (check ? reportLines(report) : summary(report))),
      ...unpaidLines(unpaid),
      ...(check ? ['Nothing was written.'] : []),
    ],
  )
  if (total.rejected > 0) throw new NeedsAttention()
}

function unpaidLines({ count, places }: Awaited<ReturnType<StatedPaid['withoutPayments']>>): string[] {
  if (count === 0) return []
  const where = places.map(({ file, line }) => `${basename(file)}:${line}`).join(', ')
  const more = count > places.length ? ', ...' : ''
  return [
    `warning: ${count} ${count > 1 ? 'invoices are' : 'invoice is'} paid by the file, and ${count > 1 ? 'have' : 'has'} no ` +
      `payments (${where}${more}): import their payments too`,
  ]
}

/** Imports a file. If it does not get to its end, says how far it got. */
async function importWithProgress(
  command: Command,
  file: string,
  entity: ImportableEntity,
  {
    clinic,
    check,
    detected: encoding,
    map,
    overwrite,
    allowOverlaps,
  }: Omit<Run, 'map'> & { map: ColumnMap | undefined; detected: TextEncoding | undefined },
  statedPaid: StatedPaid,
): Promise<FileReport & ImportResult> {
  const bar = progressBar(command, basename(file), statSync(file).size)
  const [reasons, warned] = [new GroupedTexts(), new GroupedTexts()]
  let printed = 0
  let printedWarnings = 0
  let format = { encoding: '', delimiter: null as string | null }
  let latest: ImportProgress | undefined
  const printSome = (text: string) => {
    printed++
    if (!check && printed <= MAX_PRINTED) bar.printLine(text)
    if (!check && printed === MAX_PRINTED + 1)
      bar.printLine(`See ${rejectedFile(file)} for all rejected rows`)
  }
  using interruption = interruptible()
  try {
    const result = await importFile(file, entity, clinic, {
      now: Date.now,
      ...{ map, encoding, overwrite, allowOverlaps, isTrial: check, signal: interruption.signal },
      onFormat: (found) => {
        format = formatFields(found)
      },
      onProgress: (progress) => {
        latest = progress
        bar.show(progress)
      },
      onWait: () =>
        bar.printLine(`${file}: the store is busy or unavailable; waiting up to ten minutes at a time`),
      onRejected: ({ line, reason }) => {
        reasons.add(reason, line)
        printSome(`${file}:${line}: ${reason}`)
      },
      onWarning: ({ line, text }) => {
        warned.add(text, line)
        printedWarnings++
        if (!check && printedWarnings <= MAX_PRINTED) bar.printLine(`${file}:${line}: warning: ${text}`)
      },
      onAccepted: (row) => {
        if (entity.isStatedPaid?.(row)) statedPaid.add(row.id, { file, line: row.line })
      },
    })
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

function sum(results: readonly ImportResult[]): ImportResult {
  const total: ImportResult = { imported: 0, updated: 0, unchanged: 0, rejected: 0, warnings: 0 }
  for (const result of results)
    for (const name of Object.keys(total) as (keyof ImportResult)[]) total[name] += result[name]
  return total
}

const summary = ({ file, ...result }: ImportResult & { file: string }): string =>
  `${file}: ${countsText(result)}${result.rejected > 0 ? ` (see ${rejectedFile(file)})` : ''}`
