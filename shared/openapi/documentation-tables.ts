import type * as z from 'zod'
import { EVENT_NAMES, EVENT_PAYLOADS } from '../api/events.ts'
import { recordPaging } from '../api/record-lists.ts'
import { ENDPOINTS, ROUTES } from '../api/routes.ts'
import { PING } from '../domain/webhooks/event.ts'
import { EVENT_SUMMARIES } from './events.ts'
import { scopeTable } from './introduction.ts'
import { markdownTable } from './markdown-table.ts'
import { scopeDescriptions } from './operations.ts'

/** The documents that contain generated tables. */
export const DOCUMENTS_WITH_TABLES = ['docs/api.md', 'docs/webhooks.md'] as const

/** A table between its markers, `<!-- table: NAME -->` and `<!-- end of table -->`. */
const TABLE = /(<!-- table: (\w+) -->)[\s\S]*?(<!-- end of table -->)/g

/**
 * A document in markdown with its tables as the contracts have them.
 * @param tables tables that are not about the contracts, by name
 * @throws Error for a marker that names no table
 */
export function withCurrentTables(
  markdown: string,
  tables: Readonly<Record<string, string>> = documentationTables(),
): string {
  return markdown.replace(TABLE, (_all, start: string, name: string, end: string) => {
    if (tables[name] === undefined) throw new Error(`There is no table for the marker ${name}.`)
    return `${start}\n\n${tables[name]}\n\n${end}`
  })
}

/** The tables that repeat the contracts, by name, in markdown. */
const documentationTables = (): Record<string, string> => ({
  scopes: scopeTable(scopeDescriptions(ROUTES)),
  filters: filterTable(),
  events: eventTable(),
})

const code = (text: string): string => `\`${text}\``

/** The query parameters of each paginated list, besides those that say where it begins and ends, its order, and its form. */
const filterTable = (): string =>
  markdownTable(
    ['list', 'filters'],
    ENDPOINTS.flatMap(({ path, query }) => {
      const names = Object.keys(query?.shape ?? {})
      const filters = names.filter((name) => !(name in recordPaging()) && !['order', 'expand'].includes(name))
      return names.includes('page') && filters.length > 0 ? [[code(path), filters.map(code).join(', ')]] : []
    }),
  )

const eventTable = (): string =>
  markdownTable(
    ['event', 'when', '`data`'],
    EVENT_NAMES.map((event) => {
      const data = EVENT_PAYLOADS[event].shape.data as z.ZodObject
      const fields = event === PING ? 'id of the endpoint' : Object.keys(data.shape).join(', ')
      return [code(event), EVENT_SUMMARIES[event], fields]
    }),
  )
