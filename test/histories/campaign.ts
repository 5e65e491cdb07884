/** Runs histories by seed, and shrinks one that fails to the operations that its failure needs. */
import { seededRandom } from '../support/realistic-dynamodb/random.ts'
import type { RealisticDynamoDb } from '../support/realistic-dynamodb/realistic-dynamodb.ts'
import { checkEverything } from './checks/everything.ts'
import { createClinics } from './clinics.ts'
import { type Plan, planOf, runOperations } from './history.ts'
import type { OpenStage, Stage } from './stage.ts'

export type Report = {
  readonly firstSeed: number
  /** Seeds from the first on, apart from those that still run. */
  histories: number
  /** Operations by kind, crashes, and responses that said that the store was unavailable. */
  readonly operations: Record<string, number>
  readonly faults: Record<string, number>
  conflicts: number
  readonly failures: { seed: number; message: string; operations: string[] }[]
}

/** Histories of one table: a scan of it stays fast. */
const HISTORIES_PER_STAGE = 10
/** How often a shrunk history may succeed by chance: its operations overlap differently each time. */
const TRIES = 3
const MAX_SHRINK_RUNS = 40
/** A campaign ends after so many failed histories. */
const MAX_FAILURES = 3

export type CampaignOptions = {
  readonly firstSeed: number
  readonly histories: number
  readonly lanes: number
  /** After so many histories, and again after as many, the totals are reported. */
  readonly progressStep: number
  readonly onProgress: (line: string) => void
}

export async function runCampaign(
  openStage: OpenStage,
  { firstSeed, histories, lanes, progressStep, onProgress }: CampaignOptions,
): Promise<Report> {
  const report: Report = { firstSeed, histories: 0, operations: {}, faults: {}, conflicts: 0, failures: [] }
  let next = firstSeed
  const lane = async () => {
    while (next < firstSeed + histories && report.failures.length < MAX_FAILURES) {
      await using opened = await openStage()
      for (let n = 0; n < HISTORIES_PER_STAGE && next < firstSeed + histories; n++) {
        const plan = planOf(next++)
        const failure = await runHistory(opened, plan, report)
        report.histories++
        if (report.histories % progressStep === 0) onProgress(formatReport(report))
        if (!failure) continue
        if (report.failures.length >= MAX_FAILURES) return
        // Before shrinking: what failed once may not fail again.
        process.stderr.write(`history ${plan.seed} failed: ${failure.stack}\n`)
        const shrunk = await shrink(opened, plan)
        const operations = shrunk.operations.map((operation) => JSON.stringify(operation))
        report.failures.push({ seed: plan.seed, message: failure.message, operations })
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return report
}

/** The failure of the history; null if it passed. */
async function runHistory(stage: Stage, plan: Plan, report: Report | null): Promise<Error | null> {
  const { dynamodb, table } = stage
  const { world, counts } = stage.begin(seededRandom(plan.seed, 'providers'))
  const clinics = await createClinics(table)
  dynamodb.resetCounts()
  dynamodb.faults.random({ seed: plan.seed, rates: plan.faults, maxDelayMs: 20 })
  try {
    await runOperations(plan, world, clinics, report?.operations ?? {})
    await checkEverything(world, clinics)
    return null
  } catch (error) {
    return error as Error
  } finally {
    dynamodb.faults.clear()
    if (report) addCounts(report, dynamodb, counts)
  }
}

function addCounts(
  report: Report,
  dynamodb: RealisticDynamoDb,
  otherFaults: Readonly<Record<string, number>>,
): void {
  const { faults, conflicts } = dynamodb.counts()
  const add = (kind: string, by: number) => {
    report.faults[kind] = (report.faults[kind] ?? 0) + by
  }
  for (const [kind, byOperation] of Object.entries(faults))
    for (const by of Object.values(byOperation)) add(kind, by)
  for (const [kind, by] of Object.entries(otherFaults)) add(kind, by)
  for (const by of Object.values(conflicts)) report.conflicts += by
}

/** Leaves out operations, in ever smaller parts, as long as the history still fails. */
async function shrink(stage: Stage, plan: Plan): Promise<Plan> {
  let operations = plan.operations
  let runs = 0
  const fails = async (fewer: Plan['operations']) => {
    for (let n = 0; n < TRIES && runs++ < MAX_SHRINK_RUNS; n++)
      if (await runHistory(stage, { ...plan, operations: fewer }, null)) return true
    return false
  }
  for (
    let size = Math.ceil(operations.length / 2);
    size >= 1 && runs < MAX_SHRINK_RUNS;
    size = Math.floor(size / 2)
  )
    for (let at = 0; at < operations.length; ) {
      const fewer = operations.toSpliced(at, size)
      if (await fails(fewer)) operations = fewer
      else at += size
    }
  return { ...plan, operations }
}

/** A report as lines of text, for the run's output. */
export function formatReport({
  firstSeed,
  histories,
  operations,
  faults,
  conflicts,
  failures,
}: Report): string {
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')
  return [
    `${histories} histories from seed ${firstSeed}, ${failures.length} failed`,
    `operations: ${list(operations)}`,
    `faults: ${list(faults)}, conflicts ${conflicts}`,
    ...failures.map(({ seed, message, operations: kept }) => `seed ${seed}: ${message}\n${kept.join('\n')}`),
  ].join('\n')
}
