/**
 * `npm run prove`: runs the tests at a much larger size, with vitest's own arguments. With `-- --mutants`, instead does mutation
 * testing of shared/domain: StrykerJS changes one expression of a file at a time, and the file's unit tests must fail. A mutant whose
 * tests fail or run too long is killed; one whose tests pass survives.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { Stryker } from '@stryker-mutator/core'

/** The smallest share of all mutants that the tests must kill. */
const MIN_KILLED_PERCENT = 95

/** Outside Stryker's copy of the project, which is deleted after each file. */
const COMPILE_CACHE = resolve('node_modules/.cache/mutants')

const [first, ...rest] = process.argv.slice(2)

if (first === '--mutants') await runMutants(rest)
else process.exitCode = runVitest(process.argv.slice(2))

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function runVitest(args: readonly string[]): number {
  const { status } = spawnSync('vitest', ['run', ...args], {
    env: { ...process.env, EXHAUSTIVE: '1' },
    stdio: 'inherit',
  })
  return status ?? 1
}

/** Tests the mutants of some files of shared/domain, by default all, and prints the survivors and a table. */
async function runMutants(files: readonly string[]): Promise<void> {
  const reports = []
  for (const file of files.length > 0 ? files : globSync('shared/domain/**/*.ts').sort()) {
    const report = await testMutants(file)
    if (report.mutants === 0) continue
    reports.push(report)
    print(`${file}: ${report.killed} of ${report.mutants} killed`)
    for (const survivor of report.survivors) print(`  ${survivor}`)
  }
  print(`\n${mutantTable(reports)}`)
  if (percentKilled(reports) >= MIN_KILLED_PERCENT) return
  print(`\nFewer than ${MIN_KILLED_PERCENT} % of the mutants were killed.`)
  process.exitCode = 1
}

type MutantReport = {
  readonly file: string
  readonly mutants: number
  readonly killed: number
  /** `line:column: original -> replacement` */
  readonly survivors: readonly string[]
}

/** The unit test of a file. Only these tests count, so that each file's own tests notice a change of it. */
const testOf = (file: string): string => `test/${file.replace(/\.ts$/, '.test.ts')}`

/** Tests every mutant of a file. A file without a unit test kills none. */
async function testMutants(file: string): Promise<MutantReport> {
  const test = testOf(file)
  // Stryker's runner for vitest does not run tests inside `describe` with vitest 5. The cache saves a quarter of each start.
  const vitest = `NODE_COMPILE_CACHE=${COMPILE_CACHE} vitest run --config vitest.mutants.config.ts`
  const command = existsSync(test) ? `${vitest} ${test}` : 'true'
  const results = await new Stryker({ mutate: [file], commandRunner: { command } }).runMutationTest()
  const tested = results.filter(({ status }) => status !== 'Ignored')
  const survivors = tested.filter(({ status }) => status !== 'Killed' && status !== 'Timeout')
  const source = readFileSync(file, 'utf8').split('\n')
  return {
    file: basename(file),
    mutants: tested.length,
    killed: tested.length - survivors.length,
    survivors: survivors.map(({ location: { start, end }, replacement }) => {
      const lines = source.slice(start.line - 1, end.line)
      const original = lines.length === 1 ? lines[0]?.slice(start.column - 1, end.column - 1) : '...'
      return `${start.line}:${start.column}: ${original} -> ${replacement}`
    }),
  }
}

const sumOf = (reports: readonly MutantReport[], field: 'mutants' | 'killed'): number =>
  reports.reduce((sum, report) => sum + report[field], 0)

/** The share of the mutants of all files that were killed, in percent. */
const percentKilled = (reports: readonly MutantReport[]): number =>
  (100 * sumOf(reports, 'killed')) / sumOf(reports, 'mutants')

/** The results as a markdown table. */
function mutantTable(reports: readonly MutantReport[]): string {
  const row = (file: string, of: readonly MutantReport[]) =>
    `| ${file} | ${sumOf(of, 'mutants')} | ${sumOf(of, 'killed')} | ${percentKilled(of).toFixed(1)} |`
  return [
    '| file | mutants | killed | % |',
    '|---|---:|---:|---:|',
    ...reports.map((report) => row(report.file, [report])),
    row('all', reports),
  ].join('\n')
}
