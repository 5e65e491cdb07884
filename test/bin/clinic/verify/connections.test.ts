/** Requests over connections that stay open, against servers that respond in every way that matters. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createSecureServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openConnections } from '../../../../bin/clinic/verify/connections.ts'
import { selfSigned } from '../../../support/certificates.ts'

const REQUEST = 'POST / HTTP/1.1\r\nhost: here\r\n\r\n'

const responseOf = (body: string, head = '') =>
  `HTTP/1.1 200 OK\r\nContent-Type: x\r\n${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

/** Sends requests to a server that does with the n-th request of all connections what `respond` says. */
async function requestsTo(respond: (socket: Socket, index: number) => void) {
  let requests = 0
  const sockets: Socket[] = []
  const server: Server = createServer((socket) => {
    sockets.push(socket)
    socket.on('data', () => respond(socket, requests++))
    socket.on('error', () => undefined)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const send = openConnections(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  return { send: () => send(REQUEST), sockets }
}

describe('a request', () => {
  it('uses the connection of the one before, and several connections at the same time', async () => {
    const { send, sockets } = await requestsTo((socket, index) => socket.write(responseOf(`body ${index}`)))
    expect([await send(), await send()]).toEqual(['body 0', 'body 1'])
    expect(sockets).toHaveLength(1)
    expect((await Promise.all([send(), send(), send()])).sort()).toEqual(['body 2', 'body 3', 'body 4'])
    expect(sockets).toHaveLength(3)
  })

  it('resolves with a body that arrives in pieces, whatever they cut apart', async () => {
    const body = `{"ş":"${'€'.repeat(50)}"}`
    const bytes = Buffer.from(responseOf(body))
    const { send } = await requestsTo(async (socket) => {
      for (let at = 0; at < bytes.length; at += 7) {
        socket.write(bytes.subarray(at, at + 7))
        await new Promise(setImmediate)
      }
    })
    expect([await send(), await send()]).toEqual([body, body])
  })

  it('resolves with an empty body', async () => {
    const { send } = await requestsTo((socket) => socket.write(responseOf('')))
    expect(await send()).toBe('')
  })

  it.each([
    ['has another status', 'HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\n\r\n{}', /500/],
    ['has no length', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', /200/],
    ['closes the connection', responseOf('{}', 'Connection: close\r\n'), /200/],
    ['is longer than its length', `${responseOf('{}')}HTTP/1.1 200 OK`, /more than one/],
  ])('is rejected if the response %s, and the next uses a new connection', async (_, response, message) => {
    const { send, sockets } = await requestsTo((socket, index) =>
      socket.write(index === 0 ? response : responseOf('{}')),
    )
    await expect(send()).rejects.toThrow(message)
    expect(await send()).toBe('{}')
    expect(sockets).toHaveLength(2)
  })

  it('is rejected if the connection ends before the response does', async () => {
    const { send } = await requestsTo((socket, index) =>
      index === 0 ? socket.end(responseOf('{}').slice(0, -1)) : socket.write(responseOf('{}')),
    )
    await expect(send()).rejects.toThrow('the connection was closed')
    expect(await send()).toBe('{}')
  })

  it('uses a new connection if the server has closed the idle one', async () => {
    const { send, sockets } = await requestsTo((socket) => socket.write(responseOf('{}')))
    await send()
    sockets[0]?.end()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await send()).toBe('{}')
    expect(sockets).toHaveLength(2)
  })

  it('is rejected if nothing listens', async () => {
    await expect(openConnections(new URL('http://127.0.0.1:1'))(REQUEST)).rejects.toThrow(/ECONNREFUSED/)
  })
})

describe('a request over TLS', () => {
  it.each([
    ['is sent if the certificate is trusted and names the host', 'localhost', true, '{}'],
    ['is rejected if the certificate is not trusted', 'localhost', false, /self-signed certificate/],
    ['is rejected if the certificate names another host', 'other', true, /does not match/],
  ])('%s', async (_, dns, isTrusted, outcome) => {
    const { cert, key } = selfSigned({ dns })
    const server = createSecureServer({ cert, key }, (socket) => {
      socket.on('data', () => socket.end(responseOf('{}')))
      socket.on('error', () => undefined)
    }).listen(0, 'localhost')
    await once(server, 'listening')
    const trusted = getCACertificates()
    if (isTrusted) setDefaultCACertificates([...trusted, cert])
    onTestFinished(() => {
      setDefaultCACertificates(trusted)
      server.close()
    })
    const send = openConnections(new URL(`https://localhost:${(server.address() as AddressInfo).port}`))
    const result = await send(REQUEST).catch((error: Error) => error.message)
    expect(result).toMatch(outcome)
  })
})
