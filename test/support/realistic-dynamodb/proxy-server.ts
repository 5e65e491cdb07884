import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type DataOperation, dataOperation, type Reply } from './call.ts'
import type { EngineConnection, EngineRequest } from './engine-sockets.ts'

type Options = {
  readonly engine: EngineConnection
  /** Responds to a data operation. `send` passes a request with this body on to the engine. */
  readonly respond: (
    operation: DataOperation,
    body: string,
    send: (target: string, body: string) => Promise<Reply>,
  ) => Promise<Reply>
}

const API = 'DynamoDB_20120810'

/** An HTTP server on a free port of 127.0.0.1. */
export async function startProxyServer({ engine, respond }: Options) {
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request)
    const { method = 'GET', url: path = '/', headers } = request
    const incoming = { method, path, headers, body }
    const target = headers['x-amz-target'] as string | undefined
    const operation = dataOperation(target)
    if (operation) write(response, await respond(operation, body, sender(engine, incoming)))
    else {
      const result = await engine.send(incoming)
      response.writeHead(result.status).end(result.body)
    }
  }
  const server = createServer((request, response) => {
    // The engine is gone, or the proxy is closing: for the client, a connection that is cut.
    handle(request, response).catch(() => request.socket.destroy())
  })
  // A client must not find its connection closed between two calls: every cut here is a fault that was asked for.
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async (): Promise<void> => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Sends requests with the credentials and the signature of the one that came in: local engines do not check them. */
export const sender =
  (engine: EngineConnection, incoming: Omit<EngineRequest, 'body'>) =>
  async (target: string, body: string): Promise<Reply> => {
    const headers = { ...incoming.headers, 'x-amz-target': `${API}.${target}` }
    const { status, body: responseBody } = await engine.send({ ...incoming, headers, body })
    return { status, body: responseBody }
  }

/** A request with the credential that local engines ask for. */
const UNSIGNED = {
  method: 'POST',
  path: '/',
  headers: {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-date': '20260101T000000Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none',
  },
}

/** Sends requests that came in without HTTP. */
export const unsignedSender = (engine: EngineConnection) => sender(engine, UNSIGNED)

function write(response: ServerResponse, reply: Reply): void {
  if (reply === 'disconnect') {
    response.socket?.destroy()
    return
  }
  response
    .writeHead(reply.status, {
      'content-type': 'application/x-amz-json-1.0',
      'content-length': Buffer.byteLength(reply.body),
      'x-amzn-requestid': randomUUID(),
    })
    .end(reply.body)
}
