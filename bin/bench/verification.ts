import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { openTable } from '../../shared/store/table/table.ts'
import { buildClinic, RECORDS_PER_PATIENT } from './build-clinic.ts'
import { runTool, type ToolRun } from './tool-run.ts'

/** Records of a second of CPU time, in a clinic large enough that the start of the tool does not count. */
const MIN_RATE = 1_500
const LARGE = 100_000
/** The limit for a clinic of any size: retained memory does not grow, and the rest is garbage that was not collected. */
const MAX_MEGABYTES = 350

type VerificationRun = ToolRun & { readonly records: number; readonly rate: number }

/** Verifies clinics of some numbers of patients, and returns the tables of docs/benchmarks/verification.md and what exceeds its bounds. */
export async function measureVerification(
  client: DynamoDBDocumentClient,
  endpoint: string,
  tableName: string,
  sizes: readonly number[],
): Promise<{ section: string; failures: string[] }> {
  const runs: VerificationRun[] = []
  for (const patients of sizes) runs.push(await measure(client, endpoint, tableName, patients))
  const failures = runs.flatMap(({ records, rate, peakMegabytes }) => [
    ...(records >= LARGE && rate < MIN_RATE
      ? [`verifying ${records} records: ${Math.round(rate)} a second`]
      : []),
    ...(peakMegabytes > MAX_MEGABYTES ? [`verifying ${records} records: ${peakMegabytes} MB`] : []),
  ])
  return { section: sectionOf(runs), failures }
}

async function measure(
  client: DynamoDBDocumentClient,
  endpoint: string,
  tableName: string,
  patients: number,
): Promise<VerificationRun> {
  const clinic = await buildClinic(openTable(client, tableName), patients)
  const run = await runTool(endpoint, tableName, ['verify', '--clinic', clinic])
  const records = patients * RECORDS_PER_PATIENT
  return { ...run, records, rate: (1000 * records) / run.cpuMilliseconds }
}

const sectionOf = (
  runs: readonly VerificationRun[],
): string => `\`clinic verify\` of clinics without differences, in a process of its own, on the embedded
engine, which ran beside it. Each patient has 5 appointments, 2 invoices with a payment each, and a message. Rates are records for each
second of CPU time of the tool's process, its start included; memory is the peak of its resident set.

| records | records a second | CPU seconds | MB |
|---:|---:|---:|---:|
${runs
  .map(({ records, rate, cpuMilliseconds, peakMegabytes }) =>
    [records, Math.round(rate), Math.round(cpuMilliseconds / 100) / 10, peakMegabytes].map((number) =>
      number.toLocaleString('en'),
    ),
  )
  .map((cells) => `| ${cells.join(' | ')} |`)
  .join('\n')}
`
