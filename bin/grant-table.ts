/** The table of docs/security.md, which `npm run openapi` writes. */
import { markdownTable } from '../shared/api/openapi/markdown-table.ts'
import { type TableUse, tableUseOf } from '../shared/api/route.ts'
import { ENDPOINTS } from '../shared/api/routes.ts'
import { WORKERS } from '../shared/runtime/workers.ts'

/** The families of partitions that each function may read and write, in markdown. Functions with the same families share a row. */
export function grantTable(): string {
  const functions = [
    ...ENDPOINTS.map((route) => ({ id: route.id, ...tableUseOf(route) })),
    ...WORKERS.map(({ id, uses }) => ({ id, ...uses })),
  ]
  const rows = Map.groupBy(functions, ({ reads, writes }) => `${familiesOf(reads)} | ${familiesOf(writes)}`)
  return markdownTable(
    ['function', 'reads', 'writes'],
    [...rows].map(([families, sharing]) => [sharing.map(({ id }) => `\`${id}\``).join(', '), families]),
  )
}

const familiesOf = (families: TableUse['reads'] = []): string => [...families].sort().join(', ')
