import { statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Command } from 'commander'
import { connect, requireClinic } from './connection.ts'
import { announceImport } from './import/announce-import.ts'
import { importEntities } from './import/entities.ts'
import { type ImportResult, importFile, rejectedFile } from './import/import-file.ts'
import { rowReader } from './import/rows.ts'
import { resolveFromInvocationDir } from './invocation-path.ts'
import { CommandFailure, type GlobalOptions, NeedsAttention, print } from './output.ts'
import { progressBar } from './progress.ts'

/** Rejected rows that are printed per file. The file of rejected rows has all of them. */
const MAX_PRINTED_REJECTIONS = 10

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
    .option('--events', 'announce events for imported changes', false)
    .action(
      async (
        paths: string[],
        given: { clinic: string; entity?: string; events: boolean },
        command: Command,
      ) => {
        const files = paths.map(resolveFromInvocationDir)
        for (const file of files) requireFile(file)
        const table = await connect(command)
        const clinic = await requireClinic(table, given.clinic)
        const entities = importEntities(table, Date.now, given)
        const names = entities.map(({ name }) => name)
        const jobs = files
          .map((file) => ({ file, order: names.indexOf(entityName(file, given.entity, names)) }))
          .sort((a, b) => a.order - b.order)
        const results: (ImportResult & { file: string })[] = []
        for (const { file, order } of jobs) {
          const entity = entities[order]
          if (!entity) continue
          const result = await importWithProgress(command, file, (options) =>
            importFile(file, entity, clinic, options),
          )
          await announceImport(table, clinic.id, entity.name, result)
          results.push({ file, ...result })
        }
        const total = sum(results)
        const { json } = command.optsWithGlobals<GlobalOptions>()
        print(command, { ...total, ...(json && { files: results }) }, results.map(summary))
        if (total.rejected > 0) throw new NeedsAttention()
      },
    )
}

function requireFile(file: string): void {
  rowReader(file)
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found) throw new CommandFailure(`${file} does not exist`)
  if (!found.isFile()) throw new CommandFailure(`${file} is not a file`)
}

/** Whether a file's name begins with an entity, followed by no letter (`patients-2026.csv`). */
const isNamedAfter = (fileName: string, entity: string): boolean =>
  fileName.toLowerCase().startsWith(entity) && !/^[a-z]/i.test(fileName.slice(entity.length))

/** The entity of a file: `--entity`, or what its name begins with. */
function entityName(file: string, wanted: string | undefined, names: readonly string[]): string {
  const name = wanted ?? names.find((entity) => isNamedAfter(basename(file), entity)) ?? ''
  if (names.includes(name)) return name
  const problem =
    wanted === undefined
      ? `${file}: cannot tell the entity from the file name`
      : `--entity: unknown entity ${wanted}`
  throw new CommandFailure(`${problem}. Valid entities are ${names.join(', ')}.`)
}

async function importWithProgress(
  command: Command,
  file: string,
  run: (options: Parameters<typeof importFile>[3]) => Promise<ImportResult>,
): Promise<ImportResult> {
  const bar = progressBar(command, basename(file), statSync(file).size)
  let printed = 0
  try {
    return await run({
      now: Date.now,
      onProgress: bar.show,
      onWait: () =>
        bar.printLine(`${file}: the store is busy or unavailable; waiting up to ten minutes at a time`),
      onRejected: ({ line, reason }) => {
        printed++
        if (printed <= MAX_PRINTED_REJECTIONS) bar.printLine(`${file}:${line}: ${reason}`)
        if (printed === MAX_PRINTED_REJECTIONS + 1)
          bar.printLine(`See ${rejectedFile(file)} for all rejected rows`)
      },
    })
  } finally {
    bar.done()
  }
}

function sum(results: readonly ImportResult[]): ImportResult {
  const total = { imported: 0, updated: 0, unchanged: 0, rejected: 0 }
  for (const result of results) {
    for (const name of Object.keys(total) as (keyof ImportResult)[]) total[name] += result[name]
  }
  return total
}

const summary = ({ file, imported, updated, unchanged, rejected }: ImportResult & { file: string }): string =>
  `${file}: ${imported} imported, ${updated} updated, ${unchanged} unchanged, ${rejected} rejected` +
  (rejected > 0 ? ` (see ${rejectedFile(file)})` : '')
