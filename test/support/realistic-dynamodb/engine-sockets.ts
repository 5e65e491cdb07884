/** Requests to the engine over sockets that are kept open, written in one piece: half the time of node:http. */
import type { IncomingHttpHeaders } from 'node:http'
import { connect, type Socket } from 'node:net'

export type EngineRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type EngineConnection = {
  /** @throws Error when the engine cannot be reached */
  readonly send: (request: EngineRequest) => Promise<{ readonly status: number; readonly body: string }>
  readonly close: () => void
}

type Waiting = PromiseWithResolvers<{ status: number; body: string }>
type Connection = { readonly socket: Socket; waiting: Waiting | undefined }

/** Headers of one connection or one body, which are written again here. */
const DROPPED = /^(host|connection|content-length|transfer-encoding|accept-encoding|expect)$/

const END_OF_HEAD = Buffer.from('\r\n\r\n')

export function engineSockets(endpoint: string): EngineConnection {
  const { hostname, port } = new URL(endpoint)
  const idle: Connection[] = []
  const all = new Set<Socket>()

  function open(): Connection {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    const connection: Connection = { socket, waiting: undefined }
    all.add(socket)
    let received: Buffer = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const end = received.indexOf(END_OF_HEAD)
      if (end < 0) return
      const head = received.toString('latin1', 0, end)
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1])
      const start = end + END_OF_HEAD.length
      if (Number.isNaN(length)) socket.destroy(new Error(`the engine sent no length: ${head}`))
      if (received.length < start + length) return
      const { waiting } = connection
      const body = received.toString('utf8', start, start + length)
      received = Buffer.alloc(0)
      connection.waiting = undefined
      idle.push(connection)
      waiting?.resolve({ status: Number(head.slice(9, 12)), body })
    })
    const fail = (error?: Error) => {
      all.delete(socket)
      idle.splice(0, Number.POSITIVE_INFINITY, ...idle.filter((one) => one !== connection))
      connection.waiting?.reject(error ?? new Error('the engine closed the connection'))
    }
    socket.on('error', fail)
    socket.on('close', () => fail())
    return connection
  }

  return {
    send: ({ method, path, headers, body }) => {
      const connection = idle.pop() ?? open()
      connection.waiting = Promise.withResolvers()
      const kept = Object.entries(headers).filter(([name]) => !DROPPED.test(name))
      const lines = kept.map(([name, value]) => `${name}: ${value}\r\n`)
      const length = `content-length: ${Buffer.byteLength(body)}\r\n`
      const head = `${method} ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${lines.join('')}${length}\r\n`
      connection.socket.write(head + body)
      return connection.waiting.promise
    },
    close: () => {
      for (const socket of all) socket.destroy()
    },
  }
}
