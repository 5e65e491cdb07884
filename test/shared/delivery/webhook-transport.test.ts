import { generateKeyPairSync, sign } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import http from 'node:http'
import { type AddressInfo, createServer, connect as netConnect, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { isPublicAddress } from '../../../shared/delivery/public-address.ts'
import {
  type AttemptResult,
  dnsAddresses,
  type TransportSettings,
  webhookTransport,
} from '../../../shared/delivery/webhook-transport.ts'
import { property } from '../../support/scale.ts'

describe('a public address', () => {
  it.each([
    // Beside each special range, its nearest neighbours.
    '1.0.0.0',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '191.255.255.255',
    '192.0.1.0',
    '192.0.1.255',
    '192.0.3.0',
    '192.31.195.255',
    '192.31.197.0',
    '192.52.192.255',
    '192.52.194.0',
    '192.88.98.255',
    '192.88.100.0',
    '192.167.255.255',
    '192.169.0.0',
    '192.175.47.255',
    '192.175.49.0',
    '198.17.255.255',
    '198.20.0.0',
    '198.51.99.255',
    '198.51.101.0',
    '203.0.112.255',
    '203.0.114.0',
    '223.255.255.255',
    '8.8.8.8',
    '2000::',
    '2001:200::',
    '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:db9::',
    '2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    '2003::',
    '2606:4700:4700::1111',
    '2620:4f:7fff:ffff:ffff:ffff:ffff:ffff',
    '2620:4f:8001::',
    '2A00:1450:4001:81B::200E',
    '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    '3fff:1000::',
    '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ])('may be %s', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.each([
    ['this network', '0.0.0.0', '0.0.0.1', '0.255.255.255'],
    ['private', '10.0.0.0', '10.255.255.255'],
    ['shared by a carrier', '100.64.0.0', '100.127.255.255'],
    ['loopback', '127.0.0.0', '127.0.0.1', '127.255.255.255'],
    ['link-local', '169.254.0.0', '169.254.169.254', '169.254.170.2', '169.254.255.255'],
    ['private', '172.16.0.0', '172.31.255.255'],
    ['protocol assignments', '192.0.0.0', '192.0.0.8', '192.0.0.170', '192.0.0.255'],
    ['documentation', '192.0.2.0', '192.0.2.255'],
    ['AS112', '192.31.196.0', '192.31.196.255'],
    ['AMT', '192.52.193.0', '192.52.193.255'],
    ['6to4 relays', '192.88.99.0', '192.88.99.255'],
    ['private', '192.168.0.0', '192.168.255.255'],
    ['AS112', '192.175.48.0', '192.175.48.255'],
    ['benchmarks', '198.18.0.0', '198.19.255.255'],
    ['documentation', '198.51.100.0', '198.51.100.255'],
    ['documentation', '203.0.113.0', '203.0.113.255'],
    ['multicast', '224.0.0.0', '233.252.0.1', '239.255.255.255'],
    ['reserved', '240.0.0.0', '255.255.255.254'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::', '0:0:0:0:0:0:0:0'],
    ['loopback', '::1', '0:0:0:0:0:0:0:1'],
    ['compatible with IPv4', '::2', '::8.8.8.8', '::7f00:1'],
    ['mapped', '::ffff:0:0', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:ffff:ffff'],
    ['translated', '::ffff:0:0:0', '::ffff:0:8.8.8.8'],
    ['NAT64', '64:ff9b::', '64:ff9b::8.8.8.8', '64:ff9b::7f00:1', '64:ff9b:1::', '64:ff9b:1:ffff::'],
    ['discard', '100::', '100::ffff:ffff:ffff:ffff', '100:0:0:1::'],
    ['not given out', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '200::', '400::', '800::', '1000::'],
    ['Teredo', '2001::', '2001:0:7f00:1::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['protocol assignments', '2001:1::1', '2001:1::2', '2001:1:ffff::', '2001:1ff:ffff:ffff::'],
    ['benchmarks', '2001:2::', '2001:2:0:ffff::'],
    ['AMT', '2001:3::', '2001:3:ffff::'],
    ['AS112', '2001:4:112::', '2001:4:112:ffff::', '2620:4f:8000::', '2620:4f:8000:ffff::'],
    ['ORCHID', '2001:10::', '2001:1f:ffff::', '2001:20::', '2001:2f:ffff::'],
    ['drones', '2001:30::', '2001:3f:ffff::'],
    ['documentation', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '3fff::', '3fff:fff:ffff::'],
    ['6to4', '2002::', '2002:7f00:1::', '2002:808:808::1', '2002:ffff:ffff::'],
    ['not given out', '4000::', '6000::', '8000::', 'a000::', 'c000::', 'e000::', 'f000::', 'fbff:ffff::'],
    ['segment routing', '5f00::', '5f00:ffff::'],
    ['unique local', 'fc00::', 'fd00::', 'fd00:ec2::254', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['not given out', 'fe00::', 'fe7f:ffff::'],
    ['link-local', 'fe80::', 'fe80::1', 'febf:ffff::'],
    ['site-local', 'fec0::', 'feff:ffff::'],
    ['multicast', 'ff00::', 'ff02::1', 'ff0e::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['of a zone', 'fe80::1%eth0', '2606:4700:4700::1111%eth0', '2606:4700:4700::1111%1'],
    [
      'another spelling',
      '0177.0.0.1',
      '8.8.2056',
      '134744072',
      '0x8.8.8.8',
      '010.8.8.8',
      '8.8.8.8.',
      ' 8.8.8.8',
    ],
    ['another spelling', '[2606:4700:4700::1111]', '2606:4700:4700::1111/128', '8.8.8.8/32', '8.8.8.8:443'],
    ['nothing', '', 'example.com', 'localhost', '8.8.8', '8.8.8.8.8', '256.1.1.1', ':', ':::', '1::2::3'],
  ])('is not %s: %s', (_, ...addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([])
  })

  it('is never one that holds an IPv4 address in a known way', () => {
    fc.assert(
      fc.property(fc.ipV4(), (v4) => {
        const [a = 0, b = 0, c = 0, d = 0] = v4.split('.').map(Number)
        const [high, low] = [(a * 256 + b).toString(16), (c * 256 + d).toString(16)]
        const holders = ['::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::'].map(
          (prefix) => prefix + v4,
        )
        expect(
          [...holders, `2002:${high}:${low}::1`, `2001:0:${high}:${low}::1`].filter(isPublicAddress),
        ).toEqual([])
      }),
      property(200, 20_000),
    )
  })
})

const NAME = 'hooks.example.com'
const PORT = 8443
const URL_TEXT = `https://${NAME}:${PORT}/in/canary-path?token=canary-query`
const BODY = JSON.stringify({ id: 'evt_1', data: { note: 'canary-body ü €' } })
const HEADERS = {
  'webhook-id': 'evt_canary-header',
  'webhook-timestamp': '1',
  'webhook-signature': 'v1,abc=',
}

/** The one address that receivers of these tests have. */
const RECEIVER = '127.0.0.2'

/** Where nothing may ever connect to. */
const SILENT = ['127.0.0.1', '127.0.0.3', '::1']

const MEGABYTE = 2 ** 20
const CHUNK = Buffer.alloc(65_536)

/** Longer than anything that works. */
const DEADLINE_MS = 10_000

/** Of tests that wait for it to pass: still longer than a handshake. */
const SHORT_MS = 900

// Of the loopback addresses, other systems than Linux have only the first.
describe.skipIf(process.platform !== 'linux')('the transport', () => {
  const certificate = selfSigned({ dns: NAME })
  const silent: Server[] = []
  let connections: string[] = []
  let names: NameServer

  beforeAll(async () => {
    names = await nameServer()
    for (const host of SILENT)
      for (const port of [443, PORT]) {
        const listener = createServer((socket) => {
          connections.push(`${host}:${port}`)
          socket.destroy()
        })
        listener.listen(port, host)
        await once(listener, 'listening').then(
          () => silent.push(listener),
          // Ports below 1024 may not be this user's to open, and IPv6 may be missing: the others still listen.
          (error) => expect(['EACCES', 'EADDRNOTAVAIL']).toContain(error.code),
        )
      }
    await new Promise((told) => netConnect(PORT, '127.0.0.1').on('close', told).resume())
    expect(connections).toEqual([`127.0.0.1:${PORT}`])
  })

  beforeEach(() => {
    connections = []
    names.answer(({ type }) => (type === 'A' ? [a(NAME, RECEIVER)] : []))
  })

  afterEach(() => {
    expect(connections).toEqual([])
  })

  afterAll(() => {
    for (const listener of silent) listener.close()
    names.close()
  })

  /** Posts as a deployment would, except that the receiver's loopback address counts as public. */
  const attempt = (settings: TransportSettings = {}, url = URL_TEXT) =>
    discreet(
      webhookTransport({
        resolve: dnsAddresses(names.resolver()),
        isAllowed: (address) => address === RECEIVER,
        deadlineMs: DEADLINE_MS,
        tls: { ca: certificate.cert },
        ...settings,
      }).post(url, HEADERS, BODY),
    )

  /** As a deployment does, entirely. */
  const attemptForReal = (url = URL_TEXT, settings: TransportSettings = {}) =>
    attempt({ isAllowed: isPublicAddress, tls: undefined, ...settings }, url)

  describe('a delivery', () => {
    it('arrives as it was signed', async () => {
      const receiver = await receives((socket) => socket.end(answer('204 No Content')))
      expect(await attempt()).toEqual({
        kind: 'answered',
        status: 204,
        retryAfter: null,
        latencyMs: expect.any(Number),
      })
      const [{ head, body, serverName } = fail()] = receiver.requests
      expect(serverName).toBe(NAME)
      expect(head).toEqual([
        'POST /in/canary-path?token=canary-query HTTP/1.1',
        'webhook-id: evt_canary-header',
        'webhook-timestamp: 1',
        'webhook-signature: v1,abc=',
        `host: ${NAME}:${PORT}`,
        'content-type: application/json',
        `content-length: ${Buffer.byteLength(BODY)}`,
        'user-agent: clinic-developer-api-webhooks/1',
        'Connection: close',
      ])
      expect(body).toBe(BODY)
    })

    it('keeps its own headers, whatever the caller says', async () => {
      const receiver = await receives((socket) => socket.end(answer('200 OK')))
      const headers = {
        Host: '127.0.0.1',
        'Content-Length': '3',
        'USER-AGENT': 'x',
        'content-type': 'text/html',
      }
      const { post } = webhookTransport({
        resolve: async () => [RECEIVER],
        isAllowed: () => true,
        tls: { ca: certificate.cert },
      })
      expect(await post(URL_TEXT, headers, BODY)).toMatchObject({ status: 200 })
      const names = ['host', 'content-type', 'content-length', 'user-agent']
      const [{ head, body } = fail()] = receiver.requests
      expect(head.filter((line) => names.includes(line.split(':')[0]?.toLowerCase() ?? ''))).toEqual([
        `host: ${NAME}:${PORT}`,
        `content-length: ${Buffer.byteLength(BODY)}`,
        'user-agent: clinic-developer-api-webhooks/1',
        'content-type: application/json',
      ])
      expect(body).toBe(BODY)
    })

    it('has a name, a connection and a handshake of its own each time', async () => {
      const receiver = await receives((socket) =>
        socket.write(answer('200 OK', ['connection: keep-alive', 'content-length: 0'])),
      )
      const before = names.questions.length
      for (let round = 0; round < 3; round++) expect(await attempt()).toMatchObject({ status: 200 })
      expect(receiver.requests.map(({ resumed }) => resumed)).toEqual([false, false, false])
      const asked = names.questions.slice(before).filter((question) => question.endsWith(` ${NAME}`))
      expect(asked.sort()).toEqual([...Array(3).fill(`A ${NAME}`), ...Array(3).fill(`AAAA ${NAME}`)])
      await vi.waitFor(() => expect(receiver.sockets.size).toBe(0))
    })

    it('goes past any proxy', async () => {
      await receives((socket) => socket.end(answer('200 OK')))
      const proxy = `http://127.0.0.1:${PORT}`
      onTestFinished(http.setGlobalProxyFromEnv({ https_proxy: proxy, http_proxy: proxy }))
      expect(await attempt()).toMatchObject({ status: 200 })
    })

    it('is refused with headers that are none', async () => {
      const { post } = webhookTransport({ resolve: async () => [RECEIVER], isAllowed: () => true })
      await expect(post(URL_TEXT, { 'webhook-id': 'canary\r\nhost: x' }, BODY)).rejects.toThrow(
        /^(?!.*canary).*webhook-id/,
      )
    })
  })

  describe('the answer', () => {
    it.each([200, 201, 202, 204, 299, 400, 401, 404, 410, 429, 500, 503, 599])(
      '%i counts',
      async (status) => {
        await receives((socket) => socket.end(answer(`${status} Word`)))
        expect(await attempt()).toMatchObject({ kind: 'answered', status, retryAfter: null })
      },
    )

    it.each([301, 302, 303, 307, 308])('%i is not followed', async (status) => {
      const elsewhere = `https://127.0.0.1:${PORT}/`
      const receiver = await receives((socket) =>
        socket.end(answer(`${status} Elsewhere`, [`location: ${elsewhere}`, `refresh: 0; url=${elsewhere}`])),
      )
      expect(await attempt()).toMatchObject({ kind: 'answered', status })
      expect(receiver.requests).toHaveLength(1)
    })

    it.each(['0', '120', '86400', 'Wed, 21 Oct 2026 07:28:00 GMT'])(
      'may ask to retry after %s',
      async (text) => {
        await receives((socket) => socket.end(answer('429 Too Many', [`Retry-After: ${text}`])))
        expect(await attempt()).toMatchObject({ status: 429, retryAfter: text })
      },
    )

    it.each([
      '',
      'soon',
      '-1',
      '1.5',
      '1e9',
      '10000000000',
      '1, 2',
      '<script>',
      'Wed, 21 Oct 2026 07:28:00 GMT x',
    ])('may not ask to retry after %j', async (text) => {
      await receives((socket) => socket.end(answer('503 Later', [`Retry-After: ${text}`])))
      expect(await attempt()).toMatchObject({ status: 503, retryAfter: null })
    })

    it('may come without the connection being closed', async () => {
      const receiver = await receives((socket) => socket.write(answer('200 OK', ['content-length: 2'], 'ok')))
      const outcome = await attempt()
      expect(outcome).toMatchObject({ status: 200 })
      expect(outcome.latencyMs).toBeLessThan(DEADLINE_MS / 2)
      await vi.waitFor(() => expect(receiver.sockets.size).toBe(0))
    })

    it('may come after others that say nothing', async () => {
      await receives((socket) =>
        socket.end(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${answer('202 Accepted')}`),
      )
      expect(await attempt()).toMatchObject({ status: 202 })
    })

    it('may come before the request is read', async () => {
      await receives((socket) => socket.end(answer('410 Gone')), { at: 'connection' })
      expect(await attempt()).toMatchObject({ status: 410 })
    })

    it.each([
      ['breaks off', (socket: TLSSocket) => socket.end(answer('200 OK', ['content-length: 100'], 'half'))],
      [
        'is reset',
        (socket: TLSSocket) => {
          socket.write(answer('200 OK', ['content-length: 100'], 'half'))
          setTimeout(() => socket.destroy(), 50)
        },
      ],
      [
        'is garbage',
        (socket: TLSSocket) => socket.end(answer('200 OK', ['transfer-encoding: chunked'], 'zz\r\n')),
      ],
    ])('counts when its body %s', async (_, respond) => {
      await receives(respond)
      expect(await attempt()).toMatchObject({ kind: 'answered', status: 200 })
    })

    it('counts when its body drips, for no longer than the deadline', async () => {
      const receiver = await receives((socket) => {
        socket.write(answer('200 OK', ['content-length: 100000']))
        drip(socket, 'x')
      })
      const started = performance.now()
      const outcome = await attempt({ deadlineMs: SHORT_MS })
      expect(outcome).toMatchObject({ kind: 'answered', status: 200 })
      expect(outcome.latencyMs).toBeLessThan(SHORT_MS)
      expect(performance.now() - started).toBeGreaterThanOrEqual(SHORT_MS - 5)
      expect(performance.now() - started).toBeLessThan(SHORT_MS * 2)
      await vi.waitFor(() => expect(receiver.sockets.size).toBe(0))
    })

    it('is not read beyond a little of its body', async () => {
      let sent = 0
      const receiver = await receives((socket) => {
        socket.write(answer('200 OK', [`content-length: ${20 * MEGABYTE}`]))
        const flood = () => {
          while (sent < 20 * MEGABYTE && socket.writable) {
            sent += CHUNK.length
            if (!socket.write(CHUNK)) return
          }
        }
        socket.on('drain', flood)
        flood()
      })
      const started = performance.now()
      expect(await attempt()).toMatchObject({ kind: 'answered', status: 200 })
      expect(performance.now() - started).toBeLessThan(DEADLINE_MS)
      await vi.waitFor(() => expect(receiver.sockets.size).toBe(0))
      // The most is what lay in buffers on the way.
      expect(sent).toBeLessThan(10 * MEGABYTE)
    })
  })

  describe('no answer', () => {
    const failed = (reason: string) => ({ kind: 'failed', reason, latencyMs: expect.any(Number) })

    it.each([
      ['is never spoken', () => {}],
      ['is a status line that drips', (socket: TLSSocket) => drip(socket, 'HTTP/1.1 200 OK')],
      [
        'is headers that drip',
        (socket: TLSSocket) => {
          socket.write('HTTP/1.1 200 OK\r\nx: ')
          drip(socket, 'y')
        },
      ],
      [
        'is promised again and again',
        (socket: TLSSocket) => drip(socket, 'HTTP/1.1 102 Processing\r\n\r\n', { whole: true }),
      ],
    ])('when it %s', async (_, respond) => {
      const receiver = await receives(respond)
      const outcome = await attempt({ deadlineMs: SHORT_MS })
      expect(outcome).toEqual(failed('timeout'))
      expect(outcome.latencyMs).toBeGreaterThanOrEqual(SHORT_MS - 5)
      expect(outcome.latencyMs).toBeLessThan(SHORT_MS * 2)
      await vi.waitFor(() => expect(receiver.sockets.size).toBe(0))
    })

    it.each([
      ['garbage', 'SSH-2.0-OpenSSH_9.6\r\n'],
      ['of another protocol', '220 mail.example.com ESMTP\r\n'],
      ['HTTP of the first days', '<html>canary-answer</html>'],
      ['of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
      ['without a status', 'HTTP/1.1 OK\r\n\r\n'],
      ['of status 0', answer('000 Nothing')],
      ['of status 99', answer('099 Nothing')],
      ['of status 600', answer('600 Too Much')],
      ['of status 999', answer('999 Too Much')],
      ['with a header that is none', 'HTTP/1.1 200 OK\r\ncanary answer\r\n\r\n'],
      ['of two lengths', answer('200 OK', ['content-length: 1', 'content-length: 2'])],
      ['of huge headers', answer('200 OK', [`x: ${'y'.repeat(17_000)}`])],
      ['of many headers', answer('200 OK', Array(2_000).fill('x: canary-answer'))],
      ['of a huge reason', answer(`200 ${'y'.repeat(17_000)}`)],
      ['of endless promises', 'HTTP/1.1 103 Early Hints\r\nlink: canary\r\n\r\n'.repeat(2_000)],
    ])('when it is %s', async (_, bytes) => {
      await receives((socket) => socket.write(bytes))
      expect(await attempt()).toEqual(failed('protocol'))
    })

    it.each([
      ['at once', (socket: TLSSocket) => socket.end()],
      ['by a reset', (socket: TLSSocket) => socket.destroy()],
      ['within the status line', (socket: TLSSocket) => socket.end('HTTP/1.1 20')],
      ['within the headers', (socket: TLSSocket) => socket.end('HTTP/1.1 200 OK\r\nx: y\r\n')],
    ])('when the receiver hangs up %s', async (_, respond) => {
      await receives(respond)
      const outcome = await attempt()
      expect(outcome.kind).toBe('failed')
      expect(['connection', 'protocol']).toContain('reason' in outcome && outcome.reason)
    })

    it('when another protocol is offered', async () => {
      const receiver = await receives((socket) =>
        socket.write('HTTP/1.1 101 Switching\r\nupgrade: canary\r\nconnection: upgrade\r\n\r\n'),
      )
      expect(await attempt()).toEqual(failed('connection'))
      await vi.waitFor(() => expect(receiver.sockets.size).toBe(0))
    })

    it('when TLS breaks after its handshake', async () => {
      const receiver = await receives(() => {
        for (const socket of receiver.sockets) socket.write(answer('200 OK'))
      })
      expect(await attempt()).toEqual(failed('tls'))
    })

    it('when nobody listens', async () => {
      expect(await attempt()).toEqual(failed('connection'))
    })

    it('when the connection is reset within the handshake', async () => {
      await listens(createServer((socket) => socket.resetAndDestroy()))
      expect((await attempt()).kind).toBe('failed')
    })

    it('when there is no TLS', async () => {
      await listens(http.createServer((_, response) => response.end('canary-answer')))
      expect(await attempt()).toEqual(failed('tls'))
    })

    it('when the handshake hangs', async () => {
      await listens(createServer(() => {}))
      expect(await attempt({ deadlineMs: SHORT_MS })).toEqual(failed('timeout'))
    })
  })

  describe('the certificate', () => {
    it.each([
      ['of another name', { dns: 'other.example.com' }],
      ['of a name above', { dns: 'example.com' }],
      ['of a wildcard too high', { dns: '*.com' }],
      ['of the address', { ip: RECEIVER }],
      ['of yesterday', { dns: NAME, from: -2, to: -1 }],
      ['of tomorrow', { dns: NAME, from: 1, to: 2 }],
    ])('must not be %s', async (_, facts) => {
      const wrong = selfSigned(facts)
      const receiver = await receives((socket) => socket.end(answer('200 OK')), { certificate: wrong })
      expect(await attempt({ tls: { ca: wrong.cert } })).toMatchObject({ kind: 'failed', reason: 'tls' })
      expect(receiver.requests).toEqual([])
    })

    it('must not be of its own word only', async () => {
      const receiver = await receives((socket) => socket.end(answer('200 OK')))
      expect(await attempt({ tls: undefined })).toMatchObject({ kind: 'failed', reason: 'tls' })
      expect(await attempt({ tls: { ca: selfSigned({ dns: NAME }).cert } })).toMatchObject({ reason: 'tls' })
      expect(receiver.requests).toEqual([])
    })

    it('is looked at even where the environment says not to', async () => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
      vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
      onTestFinished(() => void vi.unstubAllEnvs().restoreAllMocks())
      const receiver = await receives((socket) => socket.end(answer('200 OK')))
      expect(await attempt({ tls: undefined })).toMatchObject({ kind: 'failed', reason: 'tls' })
      expect(receiver.requests).toEqual([])
    })

    it('may be of a wildcard', async () => {
      const wildcard = selfSigned({ dns: '*.example.com' })
      await receives((socket) => socket.end(answer('200 OK')), { certificate: wildcard })
      expect(await attempt({ tls: { ca: wildcard.cert } })).toMatchObject({ status: 200 })
    })
  })

  describe('several addresses', () => {
    const both = (address: string) => address === RECEIVER || address === '127.0.0.4'

    it('are tried until one connects', async () => {
      names.answer(({ type }) => (type === 'A' ? [a(NAME, '127.0.0.4'), a(NAME, RECEIVER)] : []))
      await receives((socket) => socket.end(answer('200 OK')))
      expect(await attempt({ isAllowed: both })).toMatchObject({ status: 200 })
    })

    it('are tried when one does not answer at all', async () => {
      await deaf('127.0.0.4')
      names.answer(({ type }) => (type === 'A' ? [a(NAME, '127.0.0.4'), a(NAME, RECEIVER)] : []))
      await receives((socket) => socket.end(answer('200 OK')))
      const outcome = await attempt({ isAllowed: both, deadlineMs: 2_000 })
      expect(outcome).toMatchObject({ status: 200 })
      expect(outcome.latencyMs).toBeGreaterThanOrEqual(2_000 / 3 - 5)
    })

    it('that all do not answer are a failure before the deadline', async () => {
      await deaf('127.0.0.4')
      names.answer(({ type }) => (type === 'A' ? [a(NAME, '127.0.0.4')] : []))
      const outcome = await attempt({ isAllowed: both, deadlineMs: SHORT_MS })
      expect(outcome).toMatchObject({ kind: 'failed', reason: 'connection' })
      expect(outcome.latencyMs).toBeLessThan(SHORT_MS)
    })

    it('never get the request twice', async () => {
      names.answer(({ type }) => (type === 'A' ? [a(NAME, RECEIVER), a(NAME, RECEIVER)] : []))
      const receiver = await receives((socket) => socket.destroy())
      expect(await attempt()).toMatchObject({ kind: 'failed', reason: 'connection' })
      expect(receiver.requests).toHaveLength(1)
    })

    it('are all checked before any is connected to', async () => {
      const receiver = await receives((socket) => socket.end(answer('200 OK')))
      for (const [first, second] of [
        [RECEIVER, '127.0.0.3'],
        ['127.0.0.3', RECEIVER],
      ] as const) {
        names.answer(({ type }) => (type === 'A' ? [a(NAME, first), a(NAME, second)] : []))
        expect(await attempt()).toMatchObject({ reason: 'private_address' })
      }
      names.answer(({ type }) => (type === 'A' ? [a(NAME, RECEIVER)] : [aaaa(NAME, '::1')]))
      expect(await attempt()).toMatchObject({ reason: 'private_address' })
      expect(receiver.requests).toEqual([])
    })
  })

  describe('the name', () => {
    it('may have addresses of one family only, or behind others', async () => {
      await receives((socket) => socket.end(answer('200 OK')))
      for (const missing of [[], 'NXDOMAIN', 'SERVFAIL', 'REFUSED'] as const) {
        names.answer(({ type }) => (type === 'A' ? [a(NAME, RECEIVER)] : missing))
        expect(await attempt()).toMatchObject({ status: 200 })
      }
      names.answer(({ type }) => [
        cname(NAME, 'edge.example.net'),
        cname('edge.example.net', 'pool.example.net'),
        ...(type === 'A' ? [a('pool.example.net', RECEIVER)] : []),
      ])
      expect(await attempt()).toMatchObject({ status: 200 })
    })

    it.each([
      ['no addresses', [] as Answers],
      ['never been', 'NXDOMAIN' as Answers],
      ['failing name servers', 'SERVFAIL' as Answers],
      ['unwilling name servers', 'REFUSED' as Answers],
      ['a loop behind it', [cname(NAME, 'b.example.com'), cname('b.example.com', NAME)]],
    ])('may have %s', async (_, answers) => {
      names.answer(() => answers)
      expect(await attempt()).toMatchObject({ kind: 'failed', reason: 'dns' })
    })

    it('may have silent name servers, for no longer than the deadline', async () => {
      names.answer(() => 'silence')
      // A name of its own: it is asked for again when this test is over.
      const outcome = await attempt({ deadlineMs: SHORT_MS }, `https://silent.example.com:${PORT}/`)
      expect(outcome).toMatchObject({ kind: 'failed', reason: 'timeout' })
      expect(outcome.latencyMs).toBeLessThan(SHORT_MS * 2)
    })

    it('may be looked up in vain', async () => {
      const resolve = () => Promise.reject(new Error('canary'))
      expect(await attempt({ resolve })).toMatchObject({ kind: 'failed', reason: 'dns' })
    })

    it('is not looked for in a hosts file', async () => {
      names.answer(() => 'NXDOMAIN')
      expect(await attempt()).toMatchObject({ reason: 'dns' })
      await expect(dnsAddresses(names.resolver())('localhost')).resolves.toEqual([])
    })
  })

  describe('a hostile name', () => {
    it.each([
      '127.0.0.1',
      '127.0.0.3',
      '0.0.0.0',
      '10.0.0.1',
      '169.254.169.254',
      '192.168.1.1',
      '100.64.0.1',
      '::1',
      '::',
      '::ffff:127.0.0.1',
      '::ffff:0:127.0.0.1',
      '::127.0.0.1',
      '64:ff9b::127.0.0.1',
      '64:ff9b:1::7f00:1',
      '2002:7f00:1::',
      '2001:0:7f00:1::',
      'fd00:ec2::254',
      'fe80::1',
      'ff02::1',
    ])('does not lead to %s', async (address) => {
      const record = address.includes(':') ? aaaa : a
      names.answer(({ type }) => [record(NAME, address)].filter((found) => found.type === type))
      expect(await attemptForReal()).toMatchObject({ kind: 'failed', reason: 'private_address' })
      names.answer(({ type }) => [
        cname(NAME, 'innocent.example.net'),
        ...[record('innocent.example.net', address)].filter((found) => found.type === type),
      ])
      expect(await attemptForReal()).toMatchObject({ kind: 'failed', reason: 'private_address' })
      expect(await attemptForReal('https://hooks.example.com/')).toMatchObject({ reason: 'private_address' })
    })

    it.each([
      [['93.184.215.14', '127.0.0.1'], []],
      [['127.0.0.1', '93.184.215.14'], []],
      [[...Array(20).keys()].map((index) => `93.184.215.${index}`).concat('127.0.0.1'), []],
      [['93.184.215.14'], ['::1']],
      [['93.184.215.14'], ['::ffff:127.0.0.1']],
      [['93.184.215.14'], ['2606:4700:4700::1111', '64:ff9b::127.0.0.1']],
    ])('does not hide a private address among public ones: %j %j', async (v4, v6) => {
      names.answer(({ type }) =>
        type === 'A' ? v4.map((address) => a(NAME, address)) : v6.map((address) => aaaa(NAME, address)),
      )
      expect(await attemptForReal()).toMatchObject({ kind: 'failed', reason: 'private_address' })
    })

    it('does not rebind between the check and the connection', async () => {
      const receiver = await receives((socket) => socket.end(answer('200 OK')))
      const asked = { A: 0, AAAA: 0 }
      names.answer(({ name, type }) => {
        if (name !== NAME) return []
        asked[type] += 1
        if (asked[type] === 1) return type === 'A' ? [a(NAME, RECEIVER)] : []
        return type === 'A' ? [a(NAME, '127.0.0.1')] : [aaaa(NAME, '::1')]
      })
      expect(await attempt()).toMatchObject({ kind: 'answered', status: 200 })
      expect(asked).toEqual({ A: 1, AAAA: 1 })
      expect(await attempt()).toMatchObject({ kind: 'failed', reason: 'private_address' })
      expect(asked).toEqual({ A: 2, AAAA: 2 })
      expect(receiver.requests).toHaveLength(1)
    })

    it('does not rebind from an address that is really public', async () => {
      let asked = 0
      names.answer(({ name, type }) => {
        if (name !== NAME || type === 'A') return []
        asked += 1
        // In a part of the address space that nobody was given: public, and leading nowhere.
        return [aaaa(NAME, asked % 2 === 1 ? '2d00::1' : '::1')]
      })
      for (let round = 0; round < 3; round++) {
        const first = await attemptForReal(URL_TEXT, { deadlineMs: SHORT_MS })
        expect(['connection', 'timeout']).toContain('reason' in first && first.reason)
        expect(await attemptForReal()).toMatchObject({ kind: 'failed', reason: 'private_address' })
      }
      expect(asked).toBe(6)
    })
  })

  describe('the allowed host', () => {
    const allow = async (host: string) => {
      const server = http.createServer((request, response) => {
        request.resume().on('end', () => response.writeHead(202, { 'x-host': request.headers.host }).end())
      })
      server.listen(0, host === 'localhost' ? '127.0.0.1' : host)
      await once(server, 'listening')
      onTestFinished(() => void server.close())
      return { server, port: (server.address() as AddressInfo).port }
    }

    it.each([
      ['127.0.0.1', '127.0.0.1'],
      ['localhost', 'localhost'],
      ['::1', '[::1]'],
    ])('%s is reached over http, on its port', async (host, written) => {
      const { port } = await allow(host)
      const url = `http://${written}:${port}/in`
      const settings = { isAllowed: isPublicAddress, allowedHost: `${written}:${port}` }
      expect(await attempt(settings, url)).toMatchObject({ kind: 'answered', status: 202 })
      expect(await attempt({ isAllowed: isPublicAddress }, url)).toMatchObject({ reason: 'invalid_url' })
      expect(await attempt(settings, `http://${written}:${PORT}/in`)).toMatchObject({ reason: 'invalid_url' })
      expect(await attempt(settings, `https://${written}:${PORT}/in`)).toMatchObject({
        reason: 'invalid_url',
      })
    })

    it('is reached over https, with a certificate of its own', async () => {
      const own = selfSigned({ ip: RECEIVER })
      const receiver = await receives((socket) => socket.end(answer('202 Accepted')), { certificate: own })
      const settings = {
        isAllowed: isPublicAddress,
        allowedHost: `${RECEIVER}:${PORT}`,
        tls: { ca: own.cert },
      }
      expect(await attempt(settings, `https://${RECEIVER}:${PORT}/in`)).toMatchObject({ status: 202 })
      // An address is no server name (RFC 6066).
      expect(receiver.requests[0]?.serverName).toBe(false)
    })

    it('leaves other hosts to their checks', async () => {
      const settings = { isAllowed: isPublicAddress, allowedHost: `127.0.0.1:${PORT}` }
      names.answer(({ type }) => (type === 'A' ? [a(NAME, '127.0.0.1')] : []))
      expect(await attempt(settings)).toMatchObject({ reason: 'private_address' })
    })
  })

  it('takes 15 seconds at most, unless told otherwise', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { post } = webhookTransport({ resolve: () => new Promise(() => {}) })
    let outcome: AttemptResult | undefined
    post(URL_TEXT, HEADERS, BODY).then((settled) => {
      outcome = settled
    })
    await vi.advanceTimersByTimeAsync(14_999)
    expect(outcome).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    expect(outcome).toMatchObject({ kind: 'failed', reason: 'timeout' })
  })

  /** A TLS server on the receiver's address; `respond` is called once a request has come, or at its connection. */
  async function receives(
    respond: (socket: TLSSocket) => unknown,
    { certificate: { cert, key } = certificate, at = 'request' as 'request' | 'connection' } = {},
  ) {
    const requests: Received[] = []
    const server = createTlsServer({ cert, key }, (socket) => {
      let text = ''
      socket.setEncoding('utf8').on('error', () => {})
      if (at === 'connection') respond(socket)
      socket.on('data', (chunk: string) => {
        text += chunk
        const [head = '', body] = text.split('\r\n\r\n')
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1])
        if (body === undefined || Buffer.byteLength(body) < length) return
        requests.push({
          head: head.split('\r\n'),
          body,
          serverName: (socket as { servername?: string | false }).servername,
          resumed: socket.isSessionReused(),
        })
        if (at === 'request') respond(socket)
      })
    })
    return { requests, sockets: await listens(server) }
  }
})

type Received = {
  head: string[]
  body: string
  serverName: string | false | undefined
  resumed: boolean
}

/** The outcome, once it is known to hold nothing of the request or the answer. */
async function discreet(attempted: Promise<AttemptResult>): Promise<AttemptResult> {
  const outcome = await attempted
  expect(JSON.stringify(outcome)).not.toMatch(/canary|example|hooks|127\.|::/)
  if (outcome.kind === 'failed') {
    expect(Object.keys(outcome).sort()).toEqual(['kind', 'latencyMs', 'reason'])
    expect(outcome.reason).toMatch(/^(dns|private_address|connection|tls|timeout|protocol|invalid_url)$/)
  } else expect(Object.keys(outcome).sort()).toEqual(['kind', 'latencyMs', 'retryAfter', 'status'])
  return outcome
}

const fail = (): never => {
  throw new Error('nothing was received')
}

const answer = (status: string, headers: string[] = [], body = ''): string =>
  [`HTTP/1.1 ${status}`, ...headers, '', body].join('\r\n')

/** A little every 100 ms: characters of the text, or the whole of it each time. */
function drip(socket: Socket, text: string, { whole = false } = {}) {
  let next = 0
  const timer = setInterval(() => socket.write(whole ? text : (text[next++ % text.length] ?? '')), 100)
  socket.on('close', () => clearInterval(timer))
}

/** Listens on the receiver's address until the test is over; its open connections, beneath any TLS. */
async function listens(server: Server): Promise<ReadonlySet<Socket>> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  server.on('tlsClientError', () => {})
  server.listen(PORT, RECEIVER)
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((closed) => server.close(closed))
  })
  return sockets
}

/** An address whose system takes no more connections and refuses none: a queue that nobody empties, full. */
async function deaf(host: string) {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads')
     require('node:net').createServer().listen({ host: '${host}', port: ${PORT}, backlog: 1 }, () => {
       parentPort.postMessage('listening')
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
     })`,
    { eval: true },
  )
  await once(worker, 'message')
  const fillers = Array.from({ length: 4 }, () => netConnect(PORT, host).on('error', () => {}))
  onTestFinished(async () => {
    for (const filler of fillers) filler.destroy()
    await worker.terminate()
  })
  await new Promise((filled) => setTimeout(filled, 100))
}

/** A certificate that vouches for itself: `from` and `to` in days from now. Node reads them, but makes none. */
function selfSigned({
  dns,
  ip,
  from = -1,
  to = 1,
}: {
  dns?: string
  ip?: string
  from?: number
  to?: number
}) {
  const der = (tag: number, ...parts: Buffer[]): Buffer => {
    const content = Buffer.concat(parts)
    const { length } = content
    const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
    return Buffer.concat([Buffer.from([tag, ...size]), content])
  }
  const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
  const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
  const time = (days: number) => {
    const text = new Date(Date.now() + days * 86_400_000).toISOString().replace(/[-:T]|\.\d+/g, '')
    return der(0x17, Buffer.from(text.slice(2)))
  }
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(oid('2a8648ce3d040302'))
  const commonName = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from('test receiver')))))
  const subject =
    dns === undefined
      ? der(0x87, Buffer.from(ipaddr.parse(ip ?? '').toByteArray()))
      : der(0x82, Buffer.from(dns))
  const unsigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    commonName,
    sequence(time(from), time(to)),
    commonName,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid('551d11'), der(0x04, sequence(subject))))),
  )
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', unsigned, privateKey)])
  const encoded = sequence(unsigned, algorithm, der(0x03, signature)).toString('base64')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${encoded.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  }
}

type Question = { name: string; type: 'A' | 'AAAA' }
type DnsRecord = { owner: string; type: 'A' | 'AAAA' | 'CNAME'; data: Buffer }
type Answers = readonly DnsRecord[] | 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' | 'silence'
type NameServer = Awaited<ReturnType<typeof nameServer>>

const labels = (name: string): Buffer =>
  Buffer.concat([...name.split('.').map((label) => Buffer.from(`\0${label}`)), Buffer.from([0])].map(sized))

/** A label's first byte is its length. */
const sized = (label: Buffer): Buffer => {
  if (label.length > 1) label[0] = label.length - 1
  return label
}

const a = (owner: string, address: string): DnsRecord => ({
  owner,
  type: 'A',
  data: Buffer.from(ipaddr.parse(address).toByteArray()),
})
const aaaa = (owner: string, address: string): DnsRecord => ({ ...a(owner, address), type: 'AAAA' })
const cname = (owner: string, target: string): DnsRecord => ({ owner, type: 'CNAME', data: labels(target) })

const TYPES = { A: 1, CNAME: 5, AAAA: 28 }
const CODES = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 }

/** A name server on this machine that answers what the test says, and lets nothing be kept. */
async function nameServer() {
  let answerOf: (question: Question) => Answers = () => 'NXDOMAIN'
  const questions: string[] = []
  const socket = createSocket('udp4', (query, { port, address }) => {
    const parts: string[] = []
    let at = 12
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      parts.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase())
      at += 1 + length
    }
    const question: Question = {
      name: parts.join('.'),
      type: query.readUInt16BE(at + 1) === TYPES.A ? 'A' : 'AAAA',
    }
    questions.push(`${question.type} ${question.name}`)
    const answers = answerOf(question)
    if (answers === 'silence') return
    const records = typeof answers === 'string' ? [] : answers
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8580 | (typeof answers === 'string' ? CODES[answers] : 0), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(records.length, 6)
    const encoded = records.map(({ owner, type, data }) => {
      const fixed = Buffer.alloc(10)
      fixed.writeUInt16BE(TYPES[type], 0)
      fixed.writeUInt16BE(1, 2)
      fixed.writeUInt16BE(data.length, 8)
      return Buffer.concat([labels(owner), fixed, data])
    })
    socket.send(Buffer.concat([header, query.subarray(12, at + 5), ...encoded]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    questions,
    answer: (answers: (question: Question) => Answers) => {
      answerOf = answers
    },
    resolver: () => {
      const resolver = new Resolver({ timeout: 2_000, tries: 2 })
      resolver.setServers([`127.0.0.1:${socket.address().port}`])
      return resolver
    },
    close: () => socket.close(),
  }
}
