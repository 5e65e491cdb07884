/** Runs histories by seed. */
import { seededRandom } from '../support/random.ts'
import type { RealisticDynamoDb } from '../support/realistic-dynamodb/realistic-dynamodb.ts'
import { checkEverything } from './checks/everything.ts'
import { createClinics } from './clinics.ts'
import { type Plan, planOf, runOperations } from './history.ts'
import type { Stage } from './local-stage.ts'

export type Report = {
  readonly firstSeed: number
  /** Seeds from the first on, apart from those that still run. */
  histories: number
  /** Operations by kind, crashes, and responses that said that the store was unavailable. */
  readonly operations: Record<string, number>
  readonly faults: Record<string, number>
  conflicts: number
  readonly failures: { seed: number; message: string }[]
}

/** Histories of one table: a scan of it stays fast. */
const HISTORIES_PER_STAGE = 10
/** A campaign ends after so many failed histories. */
const MAX_FAILURES = 3

const LANES = 4
/** After so many histories, and again after as many, the totals are printed. */
const PROGRESS_STEP = 100

export async function runCampaign(
  openStage: () => Promise<Stage>,
  firstSeed: number,
  histories: number,
): Promise<Report> {
  const report: Report = { firstSeed, histories: 0, operations: {}, faults: {}, conflicts: 0, failures: [] }
  let next = firstSeed
  const lane = async () => {
    while (next < firstSeed + histories && report.failures.length < MAX_FAILURES) {
      await using stage = await openStage()
      for (let n = 0; n < HISTORIES_PER_STAGE && next < firstSeed + histories; n++) {
        const plan = planOf(next++)
        await runHistory(stage, plan, report).catch((error: Error) => {
          process.stderr.write(`history ${plan.seed} failed: ${error.stack}\n`)
          report.failures.push({ seed: plan.seed, message: error.message })
        })
        report.histories++
        if (report.histories % PROGRESS_STEP === 0) process.stdout.write(`${formatReport(report)}\n`)
      }
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return report
}

/** @throws the failure of the history */
async function runHistory({ dynamodb, table, begin }: Stage, plan: Plan, report: Report): Promise<void> {
  const { world, providers } = begin(seededRandom(plan.seed, 'providers'))
  const clinics = await createClinics(table)
  dynamodb.resetCounts()
  dynamodb.faults.random({ seed: plan.seed, rates: plan.faults, maxDelayMs: 20 })
  try {
    await runOperations(plan, world, clinics, report.operations)
    await checkEverything(world, clinics)
  } finally {
    dynamodb.faults.clear()
    addCounts(report, dynamodb, providers.counts)
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
    ...failures.map(({ seed, message }) => `seed ${seed}: ${message}`),
  ].join('\n')
}
