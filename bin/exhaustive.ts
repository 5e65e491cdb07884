/**
 * `npm run prove`: runs the tests at a much larger size, with vitest's own arguments. With `-- --mutants`, instead checks that
 * the tests of shared/domain fail when its code is changed; with `--sample` and `--seed`, the tests of other parts, on a
 * sample; with `--again` and a file of results, the mutants of an earlier sample.
 */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { MIN_KILLED_PERCENT, mutantTable, percentKilled, testMutants } from './exhaustive/mutants.ts'
import { testAgain, testSample } from './exhaustive/sampled-mutants.ts'

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

async function runMutants(args: string[]): Promise<void> {
  const string = { type: 'string' } as const
  const options = { sample: string, seed: { ...string, default: '1' }, again: string }
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  if (values.again) process.exitCode = (await testAgain(values.again, print)) ? 0 : 1
  else if (values.sample) await testSample(Number(values.sample), values.seed, print)
  else await runDomain(positionals)
}

/** Tests the mutants of some files of shared/domain, by default all, and prints the survivors and a table. */
async function runDomain(files: readonly string[]): Promise<void> {
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
