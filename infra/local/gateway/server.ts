import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DeployedApi, errorContext, MAX_BODY, serveRequest } from './api.ts'
import { compress, type EncodedResponse } from './compression.ts'
import type { ReceivedRequest } from './event.ts'
import type { PageHandler } from './pages.ts'
import type { RequestEntry } from './request-log.ts'
import type { HttpResponse } from './response.ts'

/** The handlers of the port: the API, and the pages of the local stack. */
export type GatewayHandlers = {
  readonly api: DeployedApi
  readonly page: PageHandler
}

/** Well above the API's limit, so that the API rejects the request and not Node. */
const MAX_HEADER_BYTES = 64 * 1024
const CLOSE_TIMEOUT_MS = 1000

/** The log entry of a request that could not be parsed. */
const UNPARSED_REQUEST: RequestEntry = {
  status: 500,
  method: '-',
  resource: null,
  durationMs: 0,
  requestId: '-',
  diagnostics: [],
}

export async function openGateway(port: number, onRequest: (entry: RequestEntry) => void) {
  const handlers = Promise.withResolvers<GatewayHandlers>()
  let serving: GatewayHandlers | undefined

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const startedAt = performance.now()
    const received = await receive(request).catch(() => null)
    if (!received) return void response.destroy() // the client disconnected before the end of its request
    const { api, page } = await handlers.promise
    const local = page(received)
    if (local) return send(response, await local, received)
    const connection = new AbortController()
    response.on('close', () => response.writableFinished || connection.abort())
    const { httpResponse, resource, diagnostics, minCompressionSize } = await serveRequest(
      received,
      api,
      connection,
    )
    send(response, compress(httpResponse, received, minCompressionSize), received)
    const { method, extendedRequestId: requestId } = received
    const durationMs = performance.now() - startedAt
    onRequest({ status: httpResponse.status, method, resource, durationMs, requestId, diagnostics })
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
      onRequest({ ...UNPARSED_REQUEST, diagnostics: [`The local gateway failed: ${error.stack}`] })
    })
  }
  server.on('request', onMessage)
  server.on('checkExpectation', onMessage)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || !serving) return socket.destroy()
    const { httpResponse, received } = renderParseError(error, serving.api, socket)
    socket.end(rawResponse(httpResponse, received))
    onRequest({ ...UNPARSED_REQUEST, status: httpResponse.status, requestId: received.extendedRequestId })
  })
  await bind(server, port)

  return {
    port: (server.address() as AddressInfo).port,
    /** Sets the handlers. Requests wait until then. */
    serve: (made: GatewayHandlers) => {
      serving = made
      handlers.resolve(made)
    },
    close: async () => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      const deadline = Date.now() + CLOSE_TIMEOUT_MS
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
    throw new Error(`Port ${port} is in use by another program. Choose another one with --port.`)
  }
}

/** Reads the whole body, so that the client receives the 413, but stores only as much as needed to detect it. */
async function receive(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (size <= MAX_BODY) chunks.push(chunk)
    size += chunk.length
  }
  const sentId = request.headers['x-amzn-requestid']
  return {
    ...origin(request.socket),
    // The caller may choose this id, as on AWS, where only the extended id is always the gateway's.
    ...(typeof sentId === 'string' && { requestId: sentId }),
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
    extendedRequestId: `${randomBytes(11).toString('base64url').slice(0, 15)}=`,
    traceId: `Root=1-${Math.floor(receivedAt / 1000).toString(16)}-${randomBytes(12).toString('hex')}`,
  }
}

/** The response to a request that Node could not parse. */
function renderParseError(error: NodeJS.ErrnoException, { renderError, api }: DeployedApi, socket: Socket) {
  const received = { ...origin(socket), method: '', protocol: 'HTTP/1.1' }
  const type = error.code === 'HPE_HEADER_OVERFLOW' ? 'REQUEST_TOO_LARGE' : 'DEFAULT_4XX'
  return { received, httpResponse: renderError(type, errorContext(received, api, null)) }
}

type RequestIds = Pick<ReceivedRequest, 'requestId' | 'extendedRequestId'>

const headersOf = (
  { headers, body, status }: EncodedResponse,
  { requestId, extendedRequestId }: RequestIds,
): [string, string][] => [
  ...headers.map(([name, value]): [string, string] => [name, value]),
  // Node would send the time of the machine: with --at, the clock of this process is another.
  ['Date', new Date().toUTCString()],
  ['x-amzn-RequestId', requestId],
  ['x-amz-apigw-id', extendedRequestId],
  ...(status === 204 || status === 304
    ? []
    : [['Content-Length', String(Buffer.byteLength(body))] as [string, string]]),
]

function send(response: ServerResponse, httpResponse: EncodedResponse, ids: RequestIds): void {
  response.writeHead(httpResponse.status, headersOf(httpResponse, ids).flat())
  response.end(httpResponse.body)
}

function rawResponse(httpResponse: HttpResponse, ids: RequestIds): string {
  const headers = [...headersOf(httpResponse, ids), ['Connection', 'close']]
  const head = [
    `HTTP/1.1 ${httpResponse.status} ${STATUS_CODES[httpResponse.status] ?? ''}`,
    ...headers.map((pair) => pair.join(': ')),
  ]
  return `${head.join('\r\n')}\r\n\r\n${httpResponse.body}`
}
