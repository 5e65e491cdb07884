import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectSecure } from 'node:tls'

const TIMEOUT_MS = 10_000

/** The end of the fields of a response, and of a line of them. */
const END_OF_HEAD = '\r\n\r\n'

/** The exchange that a connection waits for. */
type Exchange = { readonly resolve: (body: string) => void; readonly reject: (error: Error) => void }

type Connection = { readonly send: (request: string) => Promise<string>; readonly isOpen: () => boolean }

/**
 * HTTP requests over connections that stay open, as node:http makes them, at a third of its time. Only what DynamoDB responds is
 * understood: a body of a length that is known before. Every other response, and every status but 200, rejects the request.
 */
export function openConnections(endpoint: URL): (request: string) => Promise<string> {
  const idle: Connection[] = []
  return async (request) => {
    const connection = takeOpen(idle) ?? openConnection(endpoint)
    const body = await connection.send(request)
    if (connection.isOpen()) idle.push(connection)
    return body
  }
}

function takeOpen(idle: Connection[]): Connection | undefined {
  for (;;) {
    const connection = idle.pop()
    if (connection === undefined || connection.isOpen()) return connection
  }
}

/** Opens a connection for one request after the other. One that is idle does not keep the process running. */
function openConnection(endpoint: URL): Connection {
  const socket = openSocket(endpoint)
  let waiting: Exchange | undefined
  let received: Buffer[] = []
  let missing = 0

  function receive(piece: Buffer): void {
    received.push(piece)
    missing -= piece.length
    // A body arrives in many pieces: only the first are joined, to find its length.
    if (missing > 0) return
    const response = received.length === 1 ? piece : Buffer.concat(received)
    try {
      const size = sizeOf(response)
      if (size !== undefined && response.length > size.total) throw new Error('more than one response')
      received = [response]
      missing = size === undefined ? 0 : size.total - response.length
      if (size !== undefined && missing === 0) finish(response.toString('utf8', size.head, size.total))
    } catch (error) {
      socket.destroy(error as Error)
    }
  }

  function finish(body: string): void {
    const exchange = waiting
    waiting = undefined
    received = []
    socket.unref()
    exchange?.resolve(body)
  }

  socket.setNoDelay(true)
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('timeout')))
  socket.on('data', receive)
  socket.on('end', () => socket.destroy())
  socket.on('error', (error) => waiting?.reject(error))
  socket.on('close', () => waiting?.reject(new Error('the connection was closed')))
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        socket.ref()
        socket.write(request)
      }),
    isOpen: () => !socket.destroyed,
  }
}

function openSocket({ protocol, hostname, port }: URL): Socket {
  // An address of IPv6 is in brackets.
  const host = hostname.replace(/^\[|\]$/g, '')
  return protocol === 'https:'
    ? connectSecure({ host, port: Number(port || 443), ...(isIP(host) === 0 && { servername: host }) })
    : connectPlain({ host, port: Number(port || 80) })
}

/** The size of the fields of a response, and of all of it; undefined if not all fields have arrived. @throws Error if it is no success */
function sizeOf(response: Buffer): { head: number; total: number } | undefined {
  const end = response.indexOf(END_OF_HEAD)
  if (end < 0) return undefined
  const fields = response.toString('latin1', 0, end)
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(fields) ?? []
  if (!fields.startsWith('HTTP/1.1 200 ') || length === undefined || /\r\nconnection: *close/i.test(fields))
    throw new Error(fields.split('\r\n', 1)[0])
  const head = end + END_OF_HEAD.length
  return { head, total: head + Number(length) }
}
