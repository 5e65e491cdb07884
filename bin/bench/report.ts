import { statSync } from 'node:fs'
import type { ImportRun } from './import.ts'
import type { Measurement } from './patients.ts'

/** One sentence on the import of `file` and its repetition. */
export function importLine(run: ImportRun, rerun: ImportRun, file: string): string {
  const rows = Number(run.result.imported)
  const memory = run.peakMegabytes === null ? '' : `, at most ${run.peakMegabytes} MB of memory`
  const megabytes = (statSync(file).size / 1e6).toFixed(1)
  return (
    `Import of ${rows.toLocaleString('en')} rows (${megabytes} MB of CSV): ${Math.round(rows / run.seconds).toLocaleString('en')} rows a second${memory}. ` +
    `Run again: ${Number(rerun.result.unchanged).toLocaleString('en')} unchanged, ${Number(rerun.result.imported) + Number(rerun.result.updated)} written, in ${Math.round((rerun.seconds / run.seconds) * 100)} % of the time.`
  )
}

/** Measurements as a Markdown table. */
export function markdownTable(lines: readonly Measurement[]): string {
  const round = (value: number) => (Math.round(value * 10) / 10).toLocaleString('en')
  const rows = lines.map(
    ({ label: what, units, bound, roundTrips, calls, bytes }) =>
      `| ${what} | ${round(units)} | ${bound?.units ?? ''} | ${roundTrips} | ${bound?.roundTrips ?? ''} | ${calls} | ${round(bytes / 1024)} |`,
  )
  return [
    '| | units | bound | round trips | bound | calls | KB |',
    '|---|---:|---:|---:|---:|---:|---:|',
    ...rows,
  ].join('\n')
}

/** The content of docs/benchmarks.md. */
export function renderReport(sections: readonly string[], bundles: string): string {
  return `# Benchmarks

Written by \`npm run bench\` (with \`--large\` for the largest clinic), on the local DynamoDB engine. Units are read units of
strongly consistent reads as the engine's \`ConsumedCapacity\` reports them, write units where the line says so. Round trips
are calls that had to wait for one another. A line with a bound fails the bench when it passes it. Authentication adds one
read unit and one round trip to every request, and a write beside it that counts the request.

${[...sections, bundles].join('\n')}`
}

const CONTENTION = /^## Contention\n[\s\S]*?(?=^## )/m

/** The report with a new section on contention, before the one on bundles. */
export const replaceSection = (report: string, section: string): string =>
  report.replace(CONTENTION, '').replace(/^## Bundles$/m, `${section}\n## Bundles`)

/** A new report with the section on contention of the previous one, which is measured apart. */
export function keepSection(report: string, previous: string): string {
  const [section] = CONTENTION.exec(previous) ?? []
  return section === undefined ? report : replaceSection(report, section.trimEnd().concat('\n'))
}
