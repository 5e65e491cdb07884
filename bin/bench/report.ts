/** Measurements, and their pages in docs/benchmarks. */
import type { Table } from '../../shared/store/table/table.ts'

/** What is measured: a table in the engine at `endpoint`, and an empty folder. */
export type Bench = {
  readonly endpoint: string
  readonly tableName: string
  readonly table: Table
  readonly folder: string
}

/** A section of a page, and what exceeds its bounds. */
export type Measured = { readonly section: string; readonly failures: readonly string[] }

/** A text with a table. Figures are aligned to the right. */
export function sectionOf(
  introduction: string,
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : cell)),
  )
  const alignment = head.map((_, at) => (/^[\d.,]+$/.test(cells[0]?.[at] ?? '') ? '---:' : '---'))
  const [names = '', ...lines] = [head, ...cells].map((row) => `| ${row.join(' | ').trimStart()} |`)
  return `${introduction}\n\n${[names, `|${alignment.join('|')}|`, ...lines].join('\n')}\n`
}
