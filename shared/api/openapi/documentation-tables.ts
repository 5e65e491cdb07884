import type * as z from 'zod'
import { PING } from '../../domain/event.ts'
import { EVENT_NAMES, EVENT_PAYLOADS } from '../events.ts'
import { recordPaging } from '../record-lists.ts'
import { scopesOf } from '../route.ts'
import { ENDPOINTS, ROUTES } from '../routes.ts'
import { EVENT_SUMMARIES } from './events.ts'
import { errorTable, scopeTable } from './introduction.ts'
import { markdownTable } from './markdown-table.ts'
import { scopeDescriptions } from './operations.ts'

/** The tables of README.md and docs/ that repeat the contracts, by name, in markdown. */
export const documentationTables = (): Record<string, string> => ({
  endpoints: endpointTable(),
  scopes: scopeTable(scopeDescriptions(ROUTES)),
  filters: filterTable(),
  errors: errorTable(),
  events: eventTable(),
})

const code = (text: string): string => `\`${text}\``

const endpointTable = (): string =>
  markdownTable(
    ['endpoint', 'purpose', 'scope'],
    ENDPOINTS.map((route) => [
      code(`${route.method} ${route.path}`),
      route.summary,
      scopesOf(route).map(code).join(' or ') || 'none',
    ]),
  )

/** The query parameters of each paginated list, besides those that say where it begins and ends. */
const filterTable = (): string =>
  markdownTable(
    ['list', 'filters'],
    ENDPOINTS.flatMap(({ path, query }) => {
      const names = Object.keys(query?.shape ?? {})
      const filters = names.filter((name) => !(name in recordPaging))
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
