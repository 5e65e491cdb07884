import { statSync } from 'node:fs'
import { MAX_IMPORT } from './bounds.ts'
import type { Measurement } from './patients.ts'
import type { ImportRun } from './tool-run.ts'

/** The import of `file` and its repetition. */
export function importLine(run: ImportRun, rerun: ImportRun, file: string): string {
  const [rows, unchanged] = [Number(run.result.imported), Number(rerun.result.unchanged)]
  const cost = ({ cpuMilliseconds, peakMegabytes }: ImportRun) =>
    `${(cpuMilliseconds / rows).toFixed(2)} ms of CPU for each row (bound ${MAX_IMPORT.milliseconds}), at most ${peakMegabytes} MB of memory (bound ${MAX_IMPORT.megabytes})`
  const size = `${rows.toLocaleString('en')} rows (${(statSync(file).size / 1e6).toFixed(1)} MB of CSV)`
  return `Import of ${size}: ${cost(run)}. Run again: ${unchanged.toLocaleString('en')} unchanged, ${cost(rerun)}.`
}

/** Measurements as a Markdown table. */
export function markdownTable(lines: readonly Measurement[]): string {
  const round = (value: number) => (Math.round(value * 10) / 10).toLocaleString('en')
  const rows = lines.map(
    ({ label: what, units, bound, roundTrips, calls, bytes }) =>
      `| ${what} | ${round(units)} | ${bound.units} | ${roundTrips} | ${bound.roundTrips} | ${calls} | ${round(bytes / 1024)} |`,
  )
  return [
    '| | units | bound | round trips | bound | calls | KB |',
    '|---|---:|---:|---:|---:|---:|---:|',
    ...rows,
  ].join('\n')
}
