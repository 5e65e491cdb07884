import { statSync } from 'node:fs'
import { basename, isAbsolute, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { connect, requireClinic } from './connection.ts'
import { importEntities } from './import/entities.ts'
import { type ImportResult, importFile, rejectedFile } from './import/import-file.ts'
import { rowReader } from './import/rows.ts'
import { CommandFailure, EXIT, type GlobalOptions, print } from './output.ts'
import { progressBar } from './progress.ts'

/** Rejections that are told on the terminal; the file has them all. */
const MAX_PRINTED_REJECTIONS = 10

export function addImportCommand(program: Command): void {
  program
    .command('import')
    .description(
      "load a clinic's records; running it again changes nothing, and a broken run goes on where it was",
    )
    .argument('<file...>', '.csv, .ndjson or .jsonl, named after what it holds: patients.csv, doctors.ndjson')
    .requiredOption('--clinic <id>')
    .option('--entity <name>', 'what the files hold, when their names do not say')
    .option('--events', 'make events of what changes, as for any other change', false)
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
          if (entity)
            results.push({
              file,
              ...(await importWithProgress(file, (options) => importFile(file, entity, clinic, options))),
            })
        }
        const total = sum(results)
        const { json } = command.optsWithGlobals<GlobalOptions>()
        print(command, { ...total, ...(json && { files: results }) }, results.map(summary))
        if (total.rejected > 0) process.exitCode = EXIT.needsAttention
      },
    )
}

/** npm runs scripts in the project's folder, wherever it was typed. */
const resolveFromInvocationDir = (file: string): string =>
  isAbsolute(file) ? file : relative('.', resolve(process.env.INIT_CWD ?? '.', file))

function requireFile(file: string): void {
  rowReader(file)
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found) throw new CommandFailure(`${file}: there is no such file`)
  if (!found.isFile()) throw new CommandFailure(`${file}: is not a file`)
}

/** What a file holds: `--entity`, or its name up to the first character that is no letter (`patients-2026.csv`). */
function entityName(file: string, wanted: string | undefined, names: readonly string[]): string {
  const name =
    wanted ??
    basename(file)
      .split(/[^a-z]/i, 1)[0]
      ?.toLowerCase() ??
    ''
  if (names.includes(name)) return name
  const problem =
    wanted === undefined ? `${file}: the name does not say what it holds` : `--entity has no ${wanted}`
  throw new CommandFailure(`${problem}; there are ${names.join(', ')}`)
}

async function importWithProgress(
  file: string,
  run: (options: Parameters<typeof importFile>[3]) => Promise<ImportResult>,
): Promise<ImportResult> {
  const bar = progressBar(basename(file), statSync(file).size)
  let printed = 0
  try {
    return await run({
      now: Date.now,
      onProgress: bar.show,
      onRejected: ({ line, reason }) => {
        printed++
        if (printed <= MAX_PRINTED_REJECTIONS) bar.printLine(`${file}:${line}: ${reason}`)
        if (printed === MAX_PRINTED_REJECTIONS + 1)
          bar.printLine(`More rejected rows are in ${rejectedFile(file)}`)
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
