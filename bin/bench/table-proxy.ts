import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import type { Bound } from './bounds.ts'

/** A call of the table. It is in the round trip after those of all calls that had ended when it started. */
export type TableCall = {
  readonly name: string
  readonly body: string
  readonly roundTrip: number
  readonly units: number
}

/** Measures work that alone uses the table. Of several pieces of work, the highest figures count. */
export type Measure = (label: string, bound: Bound, ...works: (() => Promise<unknown>)[]) => Promise<void>

type Reply = { readonly status: number; readonly body: string }
type Capacity = { readonly CapacityUnits: number }

const READS = /Get|Query|Scan/

/**
 * Starts a server in front of the engine that records the calls of the table.
 * @param delayMs how long a call takes at least, so that calls made side by side overlap
 */
export async function startTableProxy(engine: string, delayMs: number) {
  let calls: TableCall[] = []
  let roundTrips = 0
  let isReplay = false
  const replies = new Map<string, Reply>()

  async function replyTo(name: string, body: string, request: IncomingMessage): Promise<Reply> {
    if (name === 'SendMessage') return { status: 200, body: queueReply(body) }
    const key = READS.test(name) ? `${name} ${body}` : name
    const known = replies.get(key)
    if (isReplay && known) return known
    const roundTrip = roundTrips + 1
    const headers = {
      authorization: String(request.headers.authorization),
      'x-amz-target': String(request.headers['x-amz-target']),
      'x-amz-date': String(request.headers['x-amz-date']),
      'content-type': 'application/x-amz-json-1.0',
    }
    const measured = JSON.stringify({ ...JSON.parse(body), ReturnConsumedCapacity: 'TOTAL' })
    const [response] = await Promise.all([
      fetch(engine, { method: 'POST', headers, body: measured }),
      isReplay || setTimeout(delayMs),
    ])
    const reply = { status: response.status, body: await response.text() }
    const { ConsumedCapacity = [] } = JSON.parse(reply.body) as { ConsumedCapacity?: Capacity | Capacity[] }
    const units = [ConsumedCapacity].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0)
    replies.set(key, reply)
    calls.push({ name, body, roundTrip, units })
    roundTrips = Math.max(roundTrips, roundTrip)
    return reply
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = String(request.headers['x-amz-target']).split('.')[1] as string
    const { status, body } = await replyTo(name, await text(request), request)
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(body)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error) => response.writeHead(500).end(String(error)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  /** The calls since the last time. */
  function takeCalls(): readonly TableCall[] {
    const taken = calls
    calls = []
    roundTrips = 0
    return taken
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    takeCalls,
    /** Runs work that alone uses the table, and returns its cost. */
    measure: async (work: () => Promise<unknown>): Promise<Bound> => {
      takeCalls()
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
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The queue's reply has a digest of the message, which the client verifies. */
const queueReply = (body: string): string =>
  JSON.stringify({
    MessageId: 'bench',
    MD5OfMessageBody: createHash('md5').update(JSON.parse(body).MessageBody).digest('hex'),
  })

/** The members of an inner list are made at the same time. */
export type DocumentCalls = readonly (readonly { readonly name: string; readonly input: object }[])[]

/** Calls by round trip, with the input that the document client gets for what the table received. */
export const documentCalls = (calls: readonly TableCall[]): DocumentCalls =>
  [...Map.groupBy(calls, ({ roundTrip }) => roundTrip)]
    .sort(([a], [b]) => a - b)
    .map(([, sideBySide]) =>
      sideBySide.map(({ name, body }) => ({
        name,
        input: JSON.parse(body, (attribute, value) => {
          if (attribute === 'Keys') return value.map(documentItem)
          return ATTRIBUTES.includes(attribute) ? documentItem(value) : value
        }),
      })),
    )

const ATTRIBUTES = ['Key', 'Item', 'ExpressionAttributeValues', 'ExclusiveStartKey']

const documentItem = (item: object): object =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, documentValue(value)]))

function documentValue(attribute: object): unknown {
  const [[type, value]] = Object.entries(attribute) as [[string, never]]
  if (type === 'N') return Number(value)
  if (type === 'NULL') return null
  if (type === 'L') return (value as object[]).map(documentValue)
  return type === 'M' ? documentItem(value) : value
}
