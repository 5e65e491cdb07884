import { tableUseOf } from '../shared/api/route.ts'
import { ENDPOINTS } from '../shared/api/routes.ts'
import { WORKERS, type Worker } from '../shared/runtime/workers.ts'

/** What each function may call, by its id: of the table, each call with its families of partitions. */
export const grants = () =>
  Object.fromEntries([
    ...ENDPOINTS.map((route) => [route.id, callsOf(tableUseOf(route))]),
    ...WORKERS.map(({ id, uses }) => [id, callsOf(uses)]),
  ])

const callsOf = ({ table, updatesOnly, wholeTables, services }: Worker['uses']) => ({
  ...Object.fromEntries(
    Object.entries(table).map(([call, families]) => [call, [...families].sort().join(', ')]),
  ),
  ...{ updatesOnly, wholeTables, services },
})
