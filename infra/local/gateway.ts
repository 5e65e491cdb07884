import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorContext, MAX_BODY, type ServedApi, serveRequest } from './gateway-api.ts'
import { compress, type Encoded } from './gateway-compression.ts'
import type { Received } from './gateway-event.ts'
import type { Answer } from './gateway-response.ts'
import type { Pages } from './pages.ts'
import type { RequestEntry } from './request-log.ts'

/** What the port serves: the API, and beside it the pages of the local stack itself. */
export type Serving = {
  readonly api: ServedApi
  readonly page: Pages
}

export type Gateway = {
  readonly port: number
  /** From now on. Requests that came before the first call have waited. */
  readonly serve: (serving: Serving) => void
  readonly close: () => Promise<void>
}

/** Well above what the API takes, so that it is the API that refuses. */
const MAX_HEADER_BYTES = 64 * 1024
const CLOSE_MS = 1000

/** For the log, of what never became a request. */
const NO_REQUEST: RequestEntry = {
  status: 500,
  method: '-',
  resource: null,
  durationMs: 0,
  requestId: '-',
  complaints: [],
}

export async function openGateway(port: number, onRequest: (entry: RequestEntry) => void): Promise<Gateway> {
  let serve: (serving: Serving) => void = () => {}
  let serving: Serving | Promise<Serving> = new Promise<Serving>((resolve) => {
    serve = resolve
  })

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const startedAt = performance.now()
    const received = await receive(request).catch(() => null)
    if (!received) return void response.destroy() // the client went away in the middle of its request
    const { api, page } = await serving
    const local = page(received)
    if (local) return send(response, await local, received)
    const { answer, resource, complaints, compressFrom } = await serveRequest(received, api)
    send(response, compress(answer, received, compressFrom), received)
    const { method, requestId } = received
    const durationMs = performance.now() - startedAt
    onRequest({ status: answer.status, method, resource, durationMs, requestId, complaints })
  }

  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requireHostHeader: false,
    keepAliveTimeout: 65_000,
  })
  server.maxHeadersCount = 0
  const onMessage = (request: IncomingMessage, response: ServerResponse) => {
    handle(request, response).catch((error: Error) => {
      response.destroy()
      onRequest({ ...NO_REQUEST, complaints: [`The local gateway fails: ${error.stack}`] })
    })
  }
  server.on('request', onMessage)
  server.on('checkExpectation', onMessage)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || serving instanceof Promise) return socket.destroy()
    const { answer, received } = refuseUnread(error, serving.api, socket)
    socket.end(rawAnswer(answer, received))
    onRequest({ ...NO_REQUEST, status: answer.status, requestId: received.requestId })
  })
  await bind(server, port)

  return {
    port: (server.address() as AddressInfo).port,
    serve: (next) => {
      serve(next)
      serving = next
    },
    close: async () => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      const deadline = Date.now() + CLOSE_MS
      let open = true
      void closed.then(() => {
        open = false
      })
      while (open && Date.now() < deadline) {
        server.closeIdleConnections()
        await Promise.race([closed, sleep(20)])
      }
      server.closeAllConnections()
      await closed
    },
  }
}

async function bind(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new Error(`Port ${port} is taken: another local stack, or another program, listens on it.`)
  }
}

/** Reads all of the body, so that the client gets to hear of one that is too large, but keeps no more than needed. */
async function receive(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (size <= MAX_BODY) chunks.push(chunk)
    size += chunk.length
  }
  return {
    ...origin(request.socket),
    method: request.method ?? '',
    target: request.url ?? '/',
    rawHeaders: request.rawHeaders,
    protocol: `HTTP/${request.httpVersion}`,
    body: Buffer.concat(chunks),
  }
}

const origin = (socket: Socket) => {
  const receivedAt = Date.now()
  return {
    sourceIp: socket.remoteAddress ?? '127.0.0.1',
    port: socket.localPort ?? 0,
    receivedAt,
    requestId: randomUUID(),
    extendedRequestId: `${randomBytes(11).toString('base64').slice(0, 15)}=`,
    traceId: `Root=1-${Math.floor(receivedAt / 1000).toString(16)}-${randomBytes(12).toString('hex')}`,
  }
}

/** For a request that Node could not read. */
function refuseUnread(error: NodeJS.ErrnoException, { renderError, api }: ServedApi, socket: Socket) {
  const received = { ...origin(socket), method: '', protocol: 'HTTP/1.1' }
  const type = error.code === 'HPE_HEADER_OVERFLOW' ? 'REQUEST_TOO_LARGE' : 'DEFAULT_4XX'
  return { received, answer: renderError(type, errorContext(received, api, null)) }
}

type Ids = Pick<Received, 'requestId' | 'extendedRequestId'>

const headersOf = (
  { headers, body, status }: Encoded,
  { requestId, extendedRequestId }: Ids,
): [string, string][] => [
  ...headers.map(([name, value]): [string, string] => [name, value]),
  ['x-amzn-RequestId', requestId],
  ['x-amz-apigw-id', extendedRequestId],
  ...(status === 204 || status === 304
    ? []
    : [['Content-Length', String(Buffer.byteLength(body))] as [string, string]]),
]

function send(response: ServerResponse, answer: Encoded, ids: Ids): void {
  response.writeHead(answer.status, headersOf(answer, ids).flat())
  response.end(answer.body)
}

function rawAnswer(answer: Answer, ids: Ids): string {
  const headers = [...headersOf(answer, ids), ['Connection', 'close']]
  const head = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}`,
    ...headers.map((pair) => pair.join(': ')),
  ]
  return `${head.join('\r\n')}\r\n\r\n${answer.body}`
}
