/** `npm run bench -- --imports`: what imports of patients, invoices and payments cost. */
import { newClinic } from '../../test/support/table.ts'
import { clinicRows } from './clinic-files.ts'
import { type Bench, type Measured, sectionOf } from './report.ts'
import { runImport } from './tool-run.ts'

const PATIENTS = 10_000
/** Each is a transaction of its own, after which an import pauses. Fewer would measure the start of the command. */
const INVOICES = 1_000

/** CPU time for each row, including the start of the process, and peak memory. */
const MAX_MILLISECONDS = 5
const MAX_MEGABYTES = 300

/** Imports files one after the other into a new clinic, and the patients again, who are unchanged. */
export async function measureImports(bench: Bench): Promise<Measured> {
  const clinic = await newClinic(bench.table)
  const { patients, invoices, payments } = clinicRows(PATIENTS)
  const cells: (string | number)[][] = []
  const failures: string[] = []
  for (const [label, entity, rows] of [
    ['patients', 'patients', patients],
    ['the same again', 'patients', patients],
    ['invoices', 'invoices', invoices.slice(0, INVOICES)],
    ['payments, in random order', 'payments', payments.slice(0, INVOICES)],
  ] as const) {
    const { result, cpuMilliseconds, peakMegabytes } = await runImport(bench, clinic, entity, rows)
    if (Number(result.imported) + Number(result.unchanged) !== rows.length)
      throw new Error(`${label}: rows were rejected`)
    const milliseconds = cpuMilliseconds / rows.length
    cells.push([label, rows.length, milliseconds.toFixed(2), MAX_MILLISECONDS, peakMegabytes, MAX_MEGABYTES])
    if (milliseconds > MAX_MILLISECONDS || peakMegabytes > MAX_MEGABYTES) failures.push(`importing ${label}`)
  }
  return { section: sectionOf(INTRODUCTION, ['', 'rows', 'ms', 'bound', 'MB', 'bound'], cells), failures }
}

const INTRODUCTION = `NDJSON into a new clinic, each file by \`clinic import\` in a process of its own, beside the engine in memory. An invoice has two line
items and one payment, which settles it. Milliseconds are CPU time for each row; half a second of the command's is its start.`
