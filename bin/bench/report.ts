import { statSync } from 'node:fs'
import type { ImportRun } from './import.ts'
import type { Measurement } from './patients.ts'

/** One sentence on the import of `file` and its repetition. */
export function importLine(run: ImportRun, rerun: ImportRun, file: string): string {
  const rows = Number(run.result.imported)
  const megabytes = (statSync(file).size / 1e6).toFixed(1)
  return (
    `Import of ${rows.toLocaleString('en')} rows (${megabytes} MB of CSV): ${Math.round(rows / run.seconds).toLocaleString('en')} rows a second, at most ${run.peakMegabytes} MB of memory. ` +
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
read unit and one round trip to every request, and a write beside it that counts the request. The first request of a credential
in a minute also reads half a unit beside its own work, and the first in an hour writes one.

${[...sections, bundles].join('\n')}`
}

/** Sections that are measured apart, in this order before the one on bundles. */
const APART = ['Imported payments', 'Engine', 'Contention', 'Verification']

const sectionOf = (title: string): RegExp => new RegExp(`^## ${title}\\n[\\s\\S]*?(?=^## )`, 'm')

/** The report with a new section that is measured apart. */
export function replaceSection(report: string, section: string): string {
  const title = /^## (.*)$/m.exec(section)?.[1] ?? ''
  const following = [...APART.slice(APART.indexOf(title) + 1), 'Bundles']
  const without = report.replace(sectionOf(title), '')
  const next = following.find((other) => without.includes(`\n## ${other}\n`))
  return without.replace(`\n## ${next}\n`, () => `\n${section}\n## ${next}\n`)
}

/** A new report with the sections of the previous one that are measured apart. */
export const keepSections = (report: string, previous: string): string =>
  APART.reduceRight((kept, title) => {
    const [section] = sectionOf(title).exec(previous) ?? []
    return section === undefined ? kept : replaceSection(kept, `${section.trimEnd()}\n`)
  }, report)
