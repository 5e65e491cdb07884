/**
 * A proxy in front of a local DynamoDB engine that adds what such engines lack: latency, transaction conflicts between
 * calls that overlap, request tokens, and faults on demand.
 *
 * Deletion by time to live is not emulated. Requests other than {@link DataOperation}, such as requests to DynamoDB
 * Streams, are passed on unchanged; so are PartiQL statements, which therefore never conflict.
 */

import { type DataOperation, type EngineCall, errorReply, type Reply } from './call.ts'
import { engineSockets } from './engine-sockets.ts'
import { createExecutor } from './executor.ts'
import { createFaults, type FaultKind, type Faults } from './faults.ts'
import { itemReferences, keyNameCache } from './item-references.ts'
import type { LatencyOptions } from './latency.ts'
import { startProxyServer, unsignedSender } from './proxy-server.ts'

export type RealisticDynamoDbOptions = {
  /** The address of the engine: `http://127.0.0.1:PORT`. */
  readonly engine: string
  readonly latency?: LatencyOptions
}

export type RealisticDynamoDb = {
  readonly endpoint: string
  /** Executes a data operation without HTTP between its client and the proxy. */
  readonly execute: (operation: DataOperation, body: string) => Promise<Reply>
  /** Passes a request on to the engine as it is. */
  readonly pass: (operation: DataOperation, body: string) => Promise<Reply>
  readonly faults: Faults
  readonly counts: () => Counts
  readonly resetCounts: () => void
  readonly close: () => Promise<void>
}

/** Listens on a free port of 127.0.0.1. The engine is the caller's to stop. */
export async function startRealisticDynamoDb(options: RealisticDynamoDbOptions): Promise<RealisticDynamoDb> {
  const engine = engineSockets(options.engine)
  const counters = createCounters()
  const { take: takeFault, ...faults } = createFaults()
  const keyNames = keyNameCache()
  const execute = createExecutor({
    latency: options.latency ?? {},
    onConflict: counters.countConflict,
  })

  const respond = async (
    operation: DataOperation,
    body: string,
    send: (target: string, body: string) => Promise<Reply>,
  ): Promise<Reply> => {
    const input = parse(body)
    if (!input) return errorReply('SerializationException', 'The request body is not a JSON object.')
    const keyNamesOf = (table: string) => keyNames(table, (name) => describeKeyNames(name, send))
    const items = await itemReferences(operation, input, keyNamesOf)
    const call: EngineCall = { operation, input, items }
    counters.countCall(operation)
    const fault = takeFault(call)
    if (fault) counters.countFault(fault.kind, operation)
    return execute(call, fault, {
      send: (changed) => send(operation, changed === input ? body : JSON.stringify(changed)),
      sortKey: async () => (await keyNamesOf(input.TableName))?.[1],
    })
  }

  const server = await startProxyServer({ engine, respond })
  return {
    endpoint: server.endpoint,
    execute: (operation, body) => respond(operation, body, unsignedSender(engine)),
    pass: unsignedSender(engine),
    faults,
    counts: counters.read,
    resetCounts: counters.reset,
    close: async () => {
      faults.clear()
      await server.close()
      engine.close()
    },
  }
}

function parse(body: string): any {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

async function describeKeyNames(
  TableName: string,
  send: (target: string, body: string) => Promise<Reply>,
): Promise<string[] | undefined> {
  const reply = await send('DescribeTable', JSON.stringify({ TableName }))
  if (reply === 'disconnect' || reply.status !== 200) return undefined
  const keys: { AttributeName: string; KeyType: string }[] = JSON.parse(reply.body).Table.KeySchema
  // HASH comes before RANGE, in whatever order they are listed.
  return keys.sort((a, b) => a.KeyType.localeCompare(b.KeyType)).map(({ AttributeName }) => AttributeName)
}

/** Counts of events since the start, or since the last reset. */
type Counts = {
  /** Calls that arrived, by operation. */
  readonly calls: Readonly<Partial<Record<DataOperation, number>>>
  /** Faults that were applied, by kind and operation. */
  readonly faults: Readonly<Partial<Record<FaultKind, Readonly<Partial<Record<DataOperation, number>>>>>>
  /** How often a call was rejected for an item, by the item's key: `pk|sk`. */
  readonly conflicts: Readonly<Record<string, number>>
}

function createCounters() {
  let counts = empty()
  return {
    read: (): Counts => structuredClone(counts),
    reset: (): void => {
      counts = empty()
    },
    countCall: (operation: DataOperation): void => add(counts.calls, operation),
    countFault: (kind: FaultKind, operation: DataOperation): void => {
      counts.faults[kind] ??= {}
      add(counts.faults[kind], operation)
    },
    countConflict: (key: string): void => add(counts.conflicts, key),
  }
}

type Tally = Partial<Record<string, number>>

const empty = () => ({
  calls: {} as Tally,
  faults: {} as Partial<Record<FaultKind, Tally>>,
  conflicts: {} as Record<string, number>,
})

function add(tally: Tally, name: string): void {
  tally[name] = (tally[name] ?? 0) + 1
}
