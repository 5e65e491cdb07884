/** `npm run bench -- --imports`: what imports of patients, invoices and payments cost. */
import type { Table } from '../../shared/store/table/table.ts'
import { MAX_IMPORT } from './bounds.ts'
import { clinicRows, writeRows } from './clinic-files.ts'
import { createClinic } from './records.ts'
import { type ImportRun, runImport } from './tool-run.ts'

const PATIENTS = 10_000
/** Each is a transaction of its own, after which an import pauses. Fewer would measure the start of the command. */
const INVOICES = 1_000

type Line = { readonly label: string; readonly rows: number; readonly run: ImportRun }

/** Imports files one after the other into a new clinic, and the patients again, who are unchanged. */
export async function measureImports(endpoint: string, tableName: string, table: Table, folder: string) {
  const clinic = await createClinic(table)
  const lines: Line[] = []
  const { patients, invoices, payments } = clinicRows(PATIENTS)
  for (const [label, entity, rows] of [
    ['patients', 'patients', patients],
    ['the same again', 'patients', patients],
    ['invoices', 'invoices', invoices.slice(0, INVOICES)],
    ['payments, in random order', 'payments', payments.slice(0, INVOICES)],
  ] as const) {
    const run = await runImport(endpoint, tableName, clinic, writeRows(folder, entity, rows))
    const { imported, unchanged } = run.result
    if (Number(imported) + Number(unchanged) !== rows.length) throw new Error(`${label}: rows were rejected`)
    lines.push({ label, rows: rows.length, run })
  }
  const { milliseconds, megabytes } = MAX_IMPORT
  const failures = lines.flatMap(({ label, rows, run: { cpuMilliseconds, peakMegabytes } }) =>
    cpuMilliseconds > rows * milliseconds || peakMegabytes > megabytes ? [`importing ${label}`] : [],
  )
  return { section: sectionOf(lines), failures }
}

const sectionOf = (
  lines: readonly Line[],
): string => `NDJSON into a new clinic, each file by \`clinic import\` in a process of its own, beside the engine in memory. An invoice has two line
items and one payment, which settles it. Milliseconds are CPU time for each row; half a second of the command's is its start.

| | rows | ms | bound | MB | bound |
|---|---:|---:|---:|---:|---:|
${lines
  .map(({ label, rows, run: { cpuMilliseconds, peakMegabytes } }) => {
    const milliseconds = (cpuMilliseconds / rows).toFixed(2)
    const cells = [label, rows.toLocaleString('en'), milliseconds, MAX_IMPORT.milliseconds]
    return `| ${[...cells, peakMegabytes, MAX_IMPORT.megabytes].join(' | ')} |`
  })
  .join('\n')}
`
