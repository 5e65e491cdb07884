import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { documentInput } from '../../test/support/dynamodb/plain-client.ts'
import type { DataOperation, Reply } from '../../test/support/realistic-dynamodb/call.ts'
import { engineSockets } from '../../test/support/realistic-dynamodb/engine-sockets.ts'
import { startProxyServer, unsignedSender } from '../../test/support/realistic-dynamodb/proxy-server.ts'

/** Read units of strongly consistent reads, write units, and round trips. */
export type Bound = readonly [reads: number, writes: number, roundTrips: number]

/** A call of the table. It is in the round trip after those of all calls that had ended when it started. */
type TableCall = {
  readonly name: DataOperation
  readonly body: string
  readonly roundTrip: number
  readonly units: number
}

type Capacity = { readonly CapacityUnits: number }

const READS = /Get|Query|Scan/
const READING_MS = 20

/**
 * Starts a server in front of the engine that records the calls of the table, and accepts messages for queues.
 * @param delayMs how long a call takes at least, so that calls made side by side overlap
 */
export async function startTableProxy(endpoint: string, delayMs: number) {
  const sockets = engineSockets(endpoint)
  const send = unsignedSender(sockets)
  let calls: TableCall[] = []
  let roundTrips = 0
  let isReplay = false
  const replies = new Map<string, Reply>()

  const server = await startProxyServer({
    engine: { ...sockets, send: async ({ body }) => ({ status: 200, body: queueReply(body) }) },
    respond: async (name, body) => {
      const key = READS.test(name) ? `${name} ${body}` : name
      const known = replies.get(key)
      if (isReplay && known) return known
      const roundTrip = roundTrips + 1
      const measured = JSON.stringify({ ...JSON.parse(body), ReturnConsumedCapacity: 'TOTAL' })
      const [reply] = await Promise.all([send(name, measured), isReplay || setTimeout(delayMs)])
      // If the process was stalled, calls of the same round trip have arrived, but were not read yet.
      if (!isReplay) await setTimeout(READING_MS)
      if (reply === 'disconnect') return reply
      const { ConsumedCapacity = [] }: { ConsumedCapacity?: Capacity | Capacity[] } = JSON.parse(reply.body)
      const units = [ConsumedCapacity].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0)
      replies.set(key, reply)
      calls.push({ name, body, roundTrip, units })
      roundTrips = Math.max(roundTrips, roundTrip)
      return reply
    },
  })

  return {
    url: server.endpoint,
    /** The calls so far by round trip, as {@link DocumentCalls}. */
    documentCalls: (): DocumentCalls =>
      [...Map.groupBy(calls, ({ roundTrip }) => roundTrip)]
        .sort(([a], [b]) => a - b)
        .map(([, sideBySide]) => sideBySide.map(({ name, body }) => ({ name, input: documentInput(body) }))),
    /** Runs work that alone uses the table, and returns its cost. */
    measure: async (work: () => Promise<unknown>): Promise<Bound> => {
      calls = []
      roundTrips = 0
      await work()
      const units = { reads: 0, writes: 0 }
      for (const { name, units: one } of calls) units[READS.test(name) ? 'reads' : 'writes'] += one
      return [units.reads, units.writes, roundTrips]
    },
    /**
     * Repeats replies from now on: of a read to the same read, of a write to any write of its kind, so that each repetition of a
     * request finds the table as the first one did.
     */
    replay: () => {
      isReplay = true
    },
    close: async () => {
      await server.close()
      sockets.close()
    },
  }
}

/** The queue's reply has a digest of the message, which the client verifies. */
const queueReply = (body: string): string =>
  JSON.stringify({
    MessageId: 'bench',
    MD5OfMessageBody: createHash('md5').update(JSON.parse(body).MessageBody).digest('hex'),
  })

/** Calls of the table. The members of an inner list are made at the same time. */
export type DocumentCalls = readonly (readonly { readonly name: string; readonly input: unknown }[])[]
