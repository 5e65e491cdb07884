import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'

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
const DROPPED = [
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'x-amz-crc32',
  'accept-encoding',
]

const kept = (headers: IncomingHttpHeaders): OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !DROPPED.includes(name)))

/** Any number of calls at once, over connections that are kept open. */
export function connectToEngine(endpoint: string): EngineConnection {
  const { hostname, port } = new URL(endpoint)
  const agent = new Agent({ keepAlive: true })
  return {
    send: ({ method, path, headers, body }) =>
      new Promise((resolve, reject) => {
        const bytes = Buffer.from(body)
        const outgoing = request(
          {
            hostname,
            port,
            method,
            path,
            agent,
            headers: { ...kept(headers), 'content-length': bytes.length },
          },
          (response) => {
            const chunks: Buffer[] = []
            response.on('data', (chunk: Buffer) => chunks.push(chunk))
            response.on('error', reject)
            response.on('end', () =>
              resolve({
                status: response.statusCode ?? 500,
                headers: kept(response.headers),
                body: Buffer.concat(chunks).toString(),
              }),
            )
          },
        )
        outgoing.on('error', reject)
        outgoing.end(bytes)
      }),
    close: () => agent.destroy(),
  }
}
