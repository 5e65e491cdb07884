/** `npm run bench -- --verification`: what `clinic verify` of clinics with so many patients costs. */
import { buildClinic, RECORDS_PER_PATIENT } from './clinic-files.ts'
import { type Bench, type Measured, sectionOf } from './report.ts'
import { runTool } from './tool-run.ts'

/** Records of a second of CPU time, in a clinic large enough that the start of the tool does not count. */
const MIN_RATE = 800
const LARGE = 100_000
/** The limit for a clinic of any size: little memory is retained, and the rest is garbage that was not collected. */
const MAX_MEGABYTES = 350

export async function measureVerification(bench: Bench, sizes: readonly number[]): Promise<Measured> {
  const rows: number[][] = []
  const failures: string[] = []
  for (const patients of sizes) {
    const { id } = await buildClinic(bench, patients)
    const run = await runTool(bench, ['verify', '--clinic', id])
    const records = patients * RECORDS_PER_PATIENT
    const rate = Math.round((1000 * records) / run.cpuMilliseconds)
    rows.push([records, rate, Math.round(run.cpuMilliseconds / 100) / 10, run.peakMegabytes])
    if (records >= LARGE && rate < MIN_RATE) failures.push(`verifying ${records} records: ${rate} a second`)
    if (run.peakMegabytes > MAX_MEGABYTES)
      failures.push(`verifying ${records} records: ${run.peakMegabytes} MB`)
  }
  const head = ['records', 'records a second', 'CPU seconds', 'MB']
  return { section: sectionOf(INTRODUCTION, head, rows), failures }
}

const INTRODUCTION = `\`clinic verify\` of clinics without differences, in a process of its own, on the embedded
engine, which ran beside it. Each patient has 5 appointments, and 2 invoices with a payment each. Rates are records for each
second of CPU time of the tool's process, its start included; memory is the peak of its resident set.`
