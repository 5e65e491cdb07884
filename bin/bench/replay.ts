import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'

type Reply = { readonly status: number; readonly body: string }
type Call = { readonly name: string; readonly body: string; readonly start: number; end: number }

/** Calls of the table with inputs of the document client. The members of an inner list are made at the same time. */
export type TableCalls = readonly (readonly { readonly name: string; readonly input: object }[])[]

/** Long enough that calls made side by side overlap, even in a cold process. */
const RECORDING_DELAY_MS = 150

/**
 * A server that passes a call of the table to the engine the first time, and repeats the reply from then on: of a read to the same
 * read, of a write to any write of its kind, so that each repetition of a request finds the table as the first one did.
 */
export async function startReplay(engine: string) {
  const replies = new Map<string, Reply>()
  let recorded: Call[] | undefined = []

  const replyTo = async (name: string, body: string, request: IncomingMessage): Promise<Reply> => {
    if (name === 'SendMessage') return { status: 200, body: queueReply(body) }
    const key = /Get|Query/.test(name) ? `${name} ${body}` : name
    const known = replies.get(key)
    if (known) return known
    const { authorization = '', 'x-amz-target': target } = request.headers
    const headers = {
      authorization,
      'x-amz-target': String(target),
      'x-amz-date': String(request.headers['x-amz-date']),
      'content-type': 'application/x-amz-json-1.0',
    }
    const response = await fetch(engine, { method: 'POST', headers, body })
    const reply = { status: response.status, body: await response.text() }
    replies.set(key, reply)
    return reply
  }

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const name = String(request.headers['x-amz-target']).split('.')[1] as string
    const call: Call = { name, body: await text(request), start: performance.now(), end: 0 }
    const reply = await replyTo(name, call.body, request)
    if (recorded) {
      await setTimeout(RECORDING_DELAY_MS)
      if (name !== 'SendMessage') recorded.push(call)
    }
    call.end = performance.now()
    response.writeHead(reply.status, { 'content-type': 'application/x-amz-json-1.0' }).end(reply.body)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error) => response.writeHead(500).end(String(error)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Ends the recording, and returns its calls. */
    takeCalls: (): TableCalls => {
      const calls = inWaves(recorded ?? [])
      recorded = undefined
      return calls
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Each call follows the calls that had ended when it started. */
function inWaves(calls: readonly Call[]): TableCalls {
  const waveOf = new Map<Call, number>()
  for (const call of [...calls].sort((a, b) => a.start - b.start)) {
    const earlier = calls.filter(({ end }) => end <= call.start)
    waveOf.set(call, 1 + Math.max(-1, ...earlier.map((one) => waveOf.get(one) as number)))
  }
  const waves = Map.groupBy(calls, (call) => waveOf.get(call) as number)
  return [...waves.keys()].sort().map((wave) =>
    (waves.get(wave) as Call[]).map(({ name, body }) => ({
      name,
      input: documentInput(JSON.parse(body)) as object,
    })),
  )
}

const ATTRIBUTES = ['Key', 'Item', 'ExpressionAttributeValues', 'ExclusiveStartKey']

/** The input of the document client for a request as the table receives it. */
function documentInput(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(documentInput)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => {
      if (ATTRIBUTES.includes(name)) return [name, documentValue({ M: part })]
      if (name === 'Keys') return [name, part.map((key: object) => documentValue({ M: key }))]
      return [name, documentInput(part)]
    }),
  )
}

function documentValue(attribute: object): unknown {
  const [[type, value]] = Object.entries(attribute) as [[string, never]]
  if (type === 'N') return Number(value)
  if (type === 'NULL') return null
  if (type === 'L') return (value as object[]).map(documentValue)
  if (type !== 'M') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, documentValue(part as object)]),
  )
}

/** The queue's reply has a digest of the message, which the client verifies. */
const queueReply = (body: string): string =>
  JSON.stringify({
    MessageId: 'bench',
    MD5OfMessageBody: createHash('md5').update(JSON.parse(body).MessageBody).digest('hex'),
  })
