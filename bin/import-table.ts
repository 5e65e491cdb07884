/** The table of docs/import.md, which `npm run openapi` writes. */
import { markdownTable } from '../shared/openapi/markdown-table.ts'
import type { Table } from '../shared/store/table/table.ts'
import { importEntities } from '../shared/sync/entities/entities.ts'

/** The columns of each file that can be imported, in markdown: first the required ones. */
export const importTable = (): string =>
  markdownTable(
    ['file', 'columns (required ones in bold)'],
    importEntities({} as Table, Date.now).map(({ name, columns, required }) => {
      const optional = columns.filter((column) => !required.includes(column))
      return [
        name,
        [...['external_id', ...required].map((column) => `**${column}**`), ...optional].join(', '),
      ]
    }),
  )
