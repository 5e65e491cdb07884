/** The table of docs/security.md, which `npm run openapi` writes. */

import { callsByFamilies, type TableUse, tableUseOf } from '../shared/api/route.ts'
import { ENDPOINTS } from '../shared/api/routes.ts'
import { markdownTable } from '../shared/openapi/markdown-table.ts'
import { WORKERS, type Worker } from '../shared/runtime/workers.ts'

/** The calls that each function may make of the table, in markdown. Functions with the same calls share their rows. */
export function grantTable(): string {
  const functions = [
    ...ENDPOINTS.map((route) => ({ id: route.id, uses: tableUseOf(route) })),
    ...WORKERS.map(({ id, uses }) => ({ id, uses })),
  ].map(({ id, uses }) => ({ id, rows: [...rowsOf(uses), ...wholeTableRows(uses)] }))
  const groups = Map.groupBy(functions, ({ rows }) => JSON.stringify(rows)).values()
  return markdownTable(
    ['function', 'calls', 'families'],
    [...groups].flatMap((sharing) => {
      const names = sharing.map(({ id }) => `\`${id}\``).join(', ')
      const rows = sharing[0]?.rows ?? []
      return rows.length === 0 ? [[names, '', '']] : rows.map((row, at) => [at === 0 ? names : '', ...row])
    }),
  )
}

const wholeTableRows = ({ wholeTables }: Worker['uses']): string[][] =>
  wholeTables
    ? [
        [wholeTables.inUse.join(', '), 'all, and what only operators use'],
        [wholeTables.restored.join(', '), 'all, of tables that were restored from the table'],
      ]
    : []

const rowsOf = ({ table, updatesOnly = {} }: TableUse): string[][] => [
  ...callsByFamilies(table).map(({ calls, families }) => [calls.join(', '), [...families].sort().join(', ')]),
  ...Object.entries(updatesOnly).map(([family, attributes]) => [
    'UpdateItem',
    `${family}: ${attributes.join(', ')} only`,
  ]),
]
