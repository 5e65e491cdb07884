import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { openTable } from '../../shared/store/table/table.ts'
import type { Bound } from './bounds.ts'

/** The cost of some work. */
export type Cost = {
  /** The longest chain of sequential calls. */
  readonly roundTrips: number
  /** The sum of read and write units. */
  readonly units: number
  /** The write units among them. */
  readonly writeUnits: number
}

/** One measured line of a table in docs/benchmarks. */
export type Measurement = Cost & { readonly label: string; readonly bound: Bound }

/** The commands that consume read units. */
const READS = /Get|Query|Scan/

type Capacity = { CapacityUnits?: number }

type Output = { ConsumedCapacity?: Capacity | Capacity[] }

/** Measures the calls of a client by the consumed capacity that DynamoDB reports. */
export function meter(client: DynamoDBDocumentClient) {
  let depth = 0
  let units = 0
  let writeUnits = 0
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const chained = depth + 1
        const input = { ...(args.input as object), ReturnConsumedCapacity: 'TOTAL' } as never
        const result = await next({ ...args, input })
        const { ConsumedCapacity } = result.output as Output
        for (const { CapacityUnits = 0 } of [ConsumedCapacity ?? []].flat()) {
          units += CapacityUnits
          if (!READS.test(commandName)) writeUnits += CapacityUnits
        }
        depth = Math.max(depth, chained)
        return result
      },
    { step: 'initialize', name: 'meter', override: true },
  )
  /** Runs `work` and returns its cost. Nothing else may use the client in the meantime. */
  return async function measure<T>(work: () => Promise<T>): Promise<Cost & { result: T }> {
    depth = 0
    units = 0
    writeUnits = 0
    const result = await work()
    return { result, roundTrips: depth, units, writeUnits }
  }
}

/** A table, and the lines measured on it. Nothing else may use the client. */
export function openMeteredTable(client: DynamoDBDocumentClient, name: string) {
  const measure = meter(client)
  const lines: Measurement[] = []
  const add = async (label: string, bound: Bound, work: () => Promise<unknown>): Promise<void> => {
    const { result: _, ...cost } = await measure(work)
    lines.push({ label, bound, ...cost })
  }
  return { table: openTable(client, name), measure, add, lines }
}

export type MeteredTable = ReturnType<typeof openMeteredTable>
