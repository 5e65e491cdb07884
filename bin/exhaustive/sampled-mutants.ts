/**
 * Mutation testing of a sample: draws mutants of code that needs more than one unit test, and runs the nearest tests of
 * each. Ids stay the same when code moves to another file, so that the mutants of an earlier run can be tested again.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { Instrumenter } from '@stryker-mutator/instrumenter'

export type Mutant = {
  /** Hash of the mutator, the code around the mutant and the replacement, but not of the file and the line. */
  readonly id: string
  readonly file: string
  readonly line: number
  readonly mutator: string
  readonly original: string
  readonly replacement: string
  /** The position of the original in the text of the file. */
  readonly offset: number
}

export type MutantResult = Mutant & {
  readonly status: 'killed' | 'survived'
  readonly tests: readonly string[]
  /** The test file that failed, or `timeout`, or `crash` if vitest itself failed. */
  readonly killedBy?: string | undefined
}

type Print = (line: string) => void

const SAMPLED = '{shared/{store/{calendar,patients},http,delivery},bin/clinic/import}/**/*.ts'
const FOLDER = '.local/mutants'
const TREE = resolve(FOLDER, 'tree')
/** Twice the time that the tests take without the mutant is added to it. */
const TIMEOUT_MS = 90_000
const MAX_TESTS = 4

/** A file, and the paths that it imports at run time. A path with a parameter stands for all files of its folder. */
export function sourceOf(file: string, text: string) {
  const imports = text
    .replace(/(import|export) type [^']+'[^']+'/g, '')
    .matchAll(/(?:from |import |import\()['`](\.[^'`$]+)/g)
  return { file, text, imports: [...imports].map(([, path = '']) => join(dirname(file), path)) }
}

export type Source = ReturnType<typeof sourceOf>

const readSources = (pattern: string): Source[] =>
  fs
    .globSync(pattern, { exclude: ['**/node_modules/**'] })
    .sort()
    .map((file) => sourceOf(file, fs.readFileSync(file, 'utf8')))

const hash = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12)

/** All mutants of some files. Texts are not changed, and types have no mutants. */
export async function listMutants(sources: readonly Source[]): Promise<Mutant[]> {
  const log = (_message: string) => {}
  const logger = { debug: log, info: log, isDebugEnabled: () => false }
  const instrumenter = new Instrumenter(logger as ConstructorParameters<typeof Instrumenter>[0])
  const options = { plugins: null, ignorers: [], excludedMutations: ['StringLiteral'] }
  const mutants: Mutant[] = []
  for (const { file, text } of sources) {
    const lines = text.split('\n')
    const offsetOf = ({ line, column }: { line: number; column: number }): number =>
      lines.slice(0, line).reduce((sum, { length }) => sum + length + 1, column)
    const occurrences = new Map<string, number>()
    const instrumented = await instrumenter.instrument([{ name: file, mutate: true, content: text }], options)
    for (const { location, mutatorName: mutator, replacement, status } of instrumented.mutants) {
      if (status === 'Ignored') continue
      const { start, end } = location
      // The first lines of a long block identify it: the others may change.
      const around = lines.slice(start.line, Math.min(end.line, start.line + 2) + 1).join('')
      const key = hash(mutator, around.replace(/\s|export /g, ''), replacement)
      const occurrence = occurrences.get(key) ?? 0
      occurrences.set(key, occurrence + 1)
      const offset = offsetOf(start)
      const original = text.slice(offset, offsetOf(end))
      const id = hash(key, occurrence)
      mutants.push({ id, file, line: start.line + 1, mutator, original, replacement, offset })
    }
  }
  return mutants
}

/** Draws mutants. The draw depends on the seed and the ids, not on the order of the mutants. */
export function drawMutants(mutants: readonly Mutant[], count: number, seed: string): Mutant[] {
  const tickets = new Map(mutants.map((mutant) => [hash(seed, mutant.id), mutant]))
  return [...tickets.keys()]
    .sort()
    .slice(0, count)
    .flatMap((ticket) => tickets.get(ticket) ?? [])
}

/** The text of a file with a mutant in it. */
export function mutate(text: string, { mutator, offset, original, replacement }: Mutant): string {
  // An operand of an operator that binds more strongly than the operator of the replacement needs parentheses.
  const code = /LogicalOperator|BooleanLiteral/.test(mutator) ? `(${replacement})` : replacement
  return text.slice(0, offset) + code + text.slice(offset + original.length)
}

/**
 * Lists a few test files that import a file, or if none does, that import it over other files. The test at the mirrored
 * path comes first, then tests in its folder, then tests that contain the words of the file's name most often.
 */
export function testsOf(file: string, sources: readonly Source[]): string[] {
  const distances = new Map([[file, 0]])
  for (const [reached, distance] of distances)
    for (const { file: importer, imports } of sources)
      if (!distances.has(importer) && (imports.includes(reached) || imports.includes(`${dirname(reached)}/`)))
        distances.set(importer, distance + 1)
  const mirrored = `test/${file.replace(/\.ts$/, '.test.ts')}`
  const isMirrored = (test: string): boolean => test.replace('.unit.', '.') === mirrored
  const words = basename(file, '.ts').split('-')
  const score = ({ file: test, text }: Source): number =>
    (isMirrored(test) ? 1e9 : 0) +
    (dirname(test) === dirname(mirrored) ? 1e6 : 0) +
    words.reduce((sum, word) => sum + text.split(word).length, 0)
  const tests = sources
    .filter(
      (source) => distances.has(source.file) && /^test\/(?!conformance|e2e).*\.test\.ts$/.test(source.file),
    )
    .sort((a, b) => score(b) - score(a))
    .map((source) => source.file)
  const direct = tests.filter((test) => isMirrored(test) || distances.get(test) === 1)
  return (direct.length > 0 ? direct : tests).slice(0, MAX_TESTS)
}

/** Copies the project to where its files can be changed. */
function copyProject(): void {
  fs.rmSync(TREE, { recursive: true, force: true })
  const names = fs.readdirSync('.').filter((name) => !['.git', '.local', 'node_modules'].includes(name))
  for (const name of names) fs.cpSync(name, join(TREE, name), { recursive: true })
  fs.symlinkSync(resolve('node_modules'), join(TREE, 'node_modules'))
}

type FileReport = {
  readonly name: string
  readonly status: string
  readonly startTime: number
  readonly endTime: number
}

/** Runs test files on the copy, one after the other. */
async function runTests(tests: readonly string[], { bail = 0, timeoutMs = 3_600_000 } = {}) {
  const report = resolve(FOLDER, 'report.json')
  fs.writeFileSync(report, '{ "testResults": [] }')
  const options = ['--maxWorkers=1', `--bail=${bail}`, '--reporter=json', `--outputFile=${report}`]
  // Vitest gets a process group, so that its workers end with it.
  const vitest = spawn('vitest', ['run', ...options, ...tests], {
    cwd: TREE,
    stdio: 'ignore',
    detached: true,
  })
  const kill = () => vitest.pid && process.kill(-vitest.pid, 'SIGKILL')
  process.once('exit', kill)
  const timer = setTimeout(kill, timeoutMs)
  const [code, signal] = await once(vitest, 'exit')
  clearTimeout(timer)
  process.off('exit', kill)
  const files = (JSON.parse(fs.readFileSync(report, 'utf8')).testResults as FileReport[]).map(
    ({ name, status, startTime, endTime }) => ({
      file: relative(TREE, name),
      status,
      ms: endTime - startTime,
    }),
  )
  const failed = files.find(({ status }) => status === 'failed')?.file
  return { files, killedBy: code === 0 ? undefined : (failed ?? (signal ? 'timeout' : 'crash')) }
}

function readResults(path: string): MutantResult[] {
  const lines = fs.existsSync(path) ? fs.readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
  return lines.map((line) => JSON.parse(line) as MutantResult)
}

/**
 * Runs the tests of each mutant, and appends its result to a file of JSON lines. A mutant that has a result there is not
 * run again, so that an interrupted run can continue.
 *
 * @param testsBefore test files that an earlier run used, by the ids of mutants: preferred to others, as far as they exist
 */
async function runMutants(
  mutants: readonly Mutant[],
  path: string,
  print: Print,
  testsBefore: ReadonlyMap<string, readonly string[]> = new Map(),
): Promise<void> {
  fs.mkdirSync(FOLDER, { recursive: true })
  const done = new Set(readResults(path).map(({ id }) => id))
  const left = mutants.filter(({ id }) => !done.has(id))
  if (left.length === 0) return
  process.once('SIGINT', () => process.exit(130))
  copyProject()
  const sources = readSources('{bin,functions,infra,shared,test}/**/*.ts')
  const candidates = left.map(({ id, file }) => {
    const before = (testsBefore.get(id) ?? [])
      .flatMap((test) => [test, test.replace('.test.', '.unit.test.')])
      .filter((test) => fs.existsSync(test))
    return [...new Set([...before, ...testsOf(file, sources)])]
  })
  print('Running the tests without a mutant.')
  const { files } = await runTests([...new Set(candidates.flat())])
  const times = new Map<string, number>()
  for (const { file, status, ms } of files)
    if (status === 'passed') times.set(file, ms)
    else print(`Not used, because it fails without a mutant: ${file}`)
  for (const [index, mutant] of left.entries()) {
    const text = fs.readFileSync(mutant.file, 'utf8')
    const copy = join(TREE, mutant.file)
    fs.writeFileSync(copy, mutate(text, mutant))
    const tests = candidates[index]?.filter((test) => times.has(test)) ?? []
    let killedBy: string | undefined
    // The first one kills most mutants.
    for (const some of [tests.slice(0, 1), tests.slice(1)]) {
      if (killedBy || some.length === 0) continue
      const timeoutMs = some.reduce((sum, test) => sum + 2 * (times.get(test) ?? 0), TIMEOUT_MS)
      killedBy = (await runTests(some, { bail: 1, timeoutMs })).killedBy
    }
    fs.writeFileSync(copy, text)
    const status = killedBy ? 'killed' : 'survived'
    fs.appendFileSync(path, `${JSON.stringify({ ...mutant, status, tests, killedBy })}\n`)
    print(`${describeMutant(mutant)}: ${status}`)
  }
}

const describeMutant = ({ id, file, line, original, replacement }: Mutant): string => {
  const short = (code: string): string => code.replace(/\s+/g, ' ').slice(0, 60)
  return `${id} ${file}:${line} ${short(original)} -> ${short(replacement)}`
}

function printGroups(
  results: readonly MutantResult[],
  groupOf: (of: MutantResult) => string,
  print: Print,
): void {
  for (const [group, members = []] of Object.entries(Object.groupBy(results, groupOf))) {
    print(`\n${group}: ${members.length}`)
    for (const line of members.map(describeMutant).sort()) print(`  ${line}`)
  }
}

/** Tests a sample, and prints the killed and the surviving mutants. */
export async function testSample(count: number, seed: string, print: Print): Promise<void> {
  const path = join(FOLDER, `sample-${count}-${seed}.jsonl`)
  await runMutants(drawMutants(await listMutants(readSources(SAMPLED)), count, seed), path, print)
  printGroups(readResults(path), ({ status }) => status, print)
  print(`\nResults: ${path}`)
}

/** Tests the mutants of an earlier sample again. Returns false if one that was killed survives now. */
export async function testAgain(earlierPath: string, print: Print): Promise<boolean> {
  const path = join(FOLDER, `again-${basename(earlierPath)}`)
  const earlier = readResults(earlierPath)
  const mutants = await listMutants(readSources('{bin,functions,infra,shared}/**/*.ts'))
  const present = earlier.flatMap(({ id, file }) => {
    const same = mutants.filter((mutant) => mutant.id === id)
    return same.find((mutant) => mutant.file === file) ?? same[0] ?? []
  })
  const tests = earlier.map(({ id, killedBy = '', tests }) => [id, [killedBy, ...tests]] as const)
  await runMutants(present, path, print, new Map(tests))
  const results = new Map(readResults(path).map(({ id, status }) => [id, status]))
  const changeOf = ({ id, status }: MutantResult): string => {
    const now = results.get(id)
    return now ? `${now === status ? 'still' : 'now'} ${now}` : 'no longer present'
  }
  printGroups(earlier, changeOf, print)
  print(`\nResults: ${path}`)
  return !earlier.some((result) => changeOf(result) === 'now survived')
}
