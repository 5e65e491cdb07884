/** Runs histories by seed, and shrinks one that fails to the operations that its failure needs. */
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { seededRandom } from '../../infra/local/realistic-dynamodb/random.ts'
import {
  type RealisticDynamoDb,
  startRealisticDynamoDb,
} from '../../infra/local/realistic-dynamodb/realistic-dynamodb.ts'
import { openTable } from '../../shared/store/table/table.ts'
import { createTestTable } from '../support/table.ts'
import { checkEverything } from './checks/everything.ts'
import { createClinics } from './clinics.ts'
import { engineSockets } from './engine-sockets.ts'
import { functionInstances } from './functions.ts'
import { type Plan, planOf, runOperations } from './history.ts'
import { type LocalEngine, localWorld } from './local-world.ts'
import { plainClient } from './plain-client.ts'
import { lighten, shortCut } from './short-cut.ts'

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

const LOCAL = { region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } }
/** From 0 to 2 ms. */
const LATENCY = { transactionMs: 1, writeMs: 1, readMs: 1, refusalMs: 1, jitter: 1 }
/** Histories of one table: a scan of it stays fast. */
const HISTORIES_PER_TABLE = 10
const PROGRESS_STEP = 100
const PROVIDER_FAULTS = 0.04
/** How often a shrunk history may succeed by chance: its operations overlap differently each time. */
const TRIES = 3
const MAX_SHRINK_RUNS = 40
/** A campaign ends after so many failed histories. */
const MAX_FAILURES = 3

/** The client of the functions' own configuration comes from the caller, which has replaced its module. */
export type OpenClient = (config: object) => DynamoDBDocumentClient

export type CampaignOptions = {
  readonly firstSeed: number
  readonly histories: number
  readonly lanes: number
  /** Receives the totals so far, after every hundred histories. */
  readonly onProgress: (line: string) => void
}

export async function runCampaign(
  engine: string,
  openClient: OpenClient,
  { firstSeed, histories, lanes, onProgress }: CampaignOptions,
): Promise<Report> {
  const report: Report = { firstSeed, histories: 0, operations: {}, faults: {}, conflicts: 0, failures: [] }
  let next = firstSeed
  const lane = async () => {
    while (next < firstSeed + histories && report.failures.length < MAX_FAILURES) {
      await using opened = await openLane(engine, openClient)
      for (let n = 0; n < HISTORIES_PER_TABLE && next < firstSeed + histories; n++) {
        const plan = planOf(next++)
        const failure = await runHistory(opened, plan, report)
        report.histories++
        if (report.histories % PROGRESS_STEP === 0) onProgress(formatReport(report))
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

type Lane = LocalEngine & AsyncDisposable

async function openLane(endpoint: string, openClient: OpenClient): Promise<Lane> {
  const dynamodb = await startRealisticDynamoDb({
    engine: endpoint,
    connect: engineSockets,
    latency: LATENCY,
  })
  const client = lighten(openClient(shortCut(dynamodb.execute)))
  const direct = plainClient(dynamodb.pass)
  const plain = new DynamoDBClient({ endpoint, ...LOCAL })
  const tableName = await createTestTable(plain)
  return {
    ...{ dynamodb, client, direct, tableName, functions: functionInstances(tableName) },
    [Symbol.asyncDispose]: async () => {
      await plain.send(new DeleteTableCommand({ TableName: tableName }))
      client.destroy()
      plain.destroy()
      await dynamodb.close()
    },
  }
}

/** The failure of the history; null if it passed. */
async function runHistory(lane: Lane, plan: Plan, report: Report | null): Promise<Error | null> {
  const { dynamodb } = lane
  const { world, providers } = localWorld(lane, seededRandom(plan.seed, 'providers'), PROVIDER_FAULTS)
  const clinics = await createClinics(openTable(lane.direct, lane.tableName))
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
    if (report) addCounts(report, dynamodb, providers.counts)
  }
}

function addCounts(
  report: Report,
  dynamodb: RealisticDynamoDb,
  providerFaults: Record<string, number>,
): void {
  const { faults, conflicts } = dynamodb.counts()
  const add = (kind: string, by: number) => {
    report.faults[kind] = (report.faults[kind] ?? 0) + by
  }
  for (const [kind, byOperation] of Object.entries(faults))
    for (const by of Object.values(byOperation)) add(kind, by)
  for (const [kind, by] of Object.entries(providerFaults)) add(kind, by)
  for (const by of Object.values(conflicts)) report.conflicts += by
}

/** Leaves out operations, in ever smaller parts, as long as the history still fails. */
async function shrink(lane: Lane, plan: Plan): Promise<Plan> {
  let operations = plan.operations
  let runs = 0
  const fails = async (fewer: Plan['operations']) => {
    for (let n = 0; n < TRIES && runs++ < MAX_SHRINK_RUNS; n++)
      if (await runHistory(lane, { ...plan, operations: fewer }, null)) return true
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
