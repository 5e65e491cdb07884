import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'

export type EngineResponse = {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: string
}

export type EngineConnection = {
  /** @throws Error when the engine cannot be reached */
  readonly send: (request: EngineRequest) => Promise<EngineResponse>
  readonly close: () => void
}

export type EngineRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Headers of one connection or one body, which is written again here. */
const DROPPED = new Set([
  'host',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'x-amz-crc32',
  'accept-encoding',
])

const kept = (headers: Iterable<[string, unknown]>): Record<string, string> =>
  Object.fromEntries(
    [...headers].flatMap(([name, value]) => (DROPPED.has(name) ? [] : [[name, String(value)]])),
  )

/** Any number of calls at once, over connections that are kept open. */
export const connectToEngine = (endpoint: string): EngineConnection => ({
  send: async ({ method, path, headers, body }) => {
    const response = await fetch(new URL(path, endpoint), {
      method,
      headers: kept(Object.entries(headers)),
      ...(body !== '' && { body }),
    })
    return { status: response.status, headers: kept(response.headers), body: await response.text() }
  },
  close: () => {},
})
