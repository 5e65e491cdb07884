/** Requests and responses of webhook attempts. */
import http from 'node:http'
import { createServer } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type AttemptResult,
  webhookTransport,
} from '../../../../shared/delivery/webhooks/webhook-transport.ts'
import {
  BODY,
  DEADLINE_MS,
  drip,
  fail,
  HEADERS,
  httpText,
  NAME,
  PORT,
  receiverNetwork,
  SHORT_MS,
  URL_TEXT,
} from '../../../support/webhook-receiver.ts'

const RECEIVER = '127.0.1.2'
const WATCHED = '127.0.1.1'

const MEGABYTE = 2 ** 20
const CHUNK = Buffer.alloc(65_536)

// Only Linux has all of 127.0.0.0/8 as loopback addresses.
describe.skipIf(process.platform !== 'linux')('the webhook transport', () => {
  const { certificate, names, attempt, receives, listens } = receiverNetwork({
    receiver: RECEIVER,
    watched: [WATCHED],
  })

  describe('the request', () => {
    it('is sent with the signed body and headers', async () => {
      const receiver = await receives((socket) => socket.end(httpText('204 No Content')))
      expect(await attempt()).toEqual({
        kind: 'responded',
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

    it('overrides host, content type, length and user agent of the caller', async () => {
      const receiver = await receives((socket) => socket.end(httpText('200 OK')))
      const headers = {
        Host: WATCHED,
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

    it('resolves the name, connects and negotiates TLS again for each attempt', async () => {
      const receiver = await receives((socket) =>
        socket.write(httpText('200 OK', ['connection: keep-alive', 'content-length: 0'])),
      )
      const before = names.questions.length
      for (let round = 0; round < 3; round++) expect(await attempt()).toMatchObject({ status: 200 })
      expect(receiver.requests.map(({ resumed }) => resumed)).toEqual([false, false, false])
      const asked = names.questions.slice(before).filter((question) => question.endsWith(` ${NAME}`))
      expect(asked.sort()).toEqual([...Array(3).fill(`A ${NAME}`), ...Array(3).fill(`AAAA ${NAME}`)])
      await vi.waitFor(() => expect(receiver.sockets.size).toBe(0))
    })

    it('ignores proxy settings of the environment', async () => {
      await receives((socket) => socket.end(httpText('200 OK')))
      const proxy = `http://${WATCHED}:${PORT}`
      onTestFinished(http.setGlobalProxyFromEnv({ https_proxy: proxy, http_proxy: proxy }))
      expect(await attempt()).toMatchObject({ status: 200 })
    })

    it('is rejected when a header contains a line break', async () => {
      const { post } = webhookTransport({ resolve: async () => [RECEIVER], isAllowed: () => true })
      await expect(post(URL_TEXT, { 'webhook-id': 'canary\r\nhost: x' }, BODY)).rejects.toThrow(
        /^(?!.*canary).*webhook-id/,
      )
    })
  })

  describe('the response', () => {
    it.each([200, 201, 202, 204, 299, 400, 401, 404, 410, 429, 500, 503, 599])(
      'is reported with status %i',
      async (status) => {
        await receives((socket) => socket.end(httpText(`${status} Word`)))
        expect(await attempt()).toMatchObject({ kind: 'responded', status, retryAfter: null })
      },
    )

    it.each([301, 302, 303, 307, 308])(
      'is reported with status %i, and its redirect is not followed',
      async (status) => {
        const elsewhere = `https://${WATCHED}:${PORT}/`
        const receiver = await receives((socket) =>
          socket.end(
            httpText(`${status} Elsewhere`, [`location: ${elsewhere}`, `refresh: 0; url=${elsewhere}`]),
          ),
        )
        expect(await attempt()).toMatchObject({ kind: 'responded', status })
        expect(receiver.requests).toHaveLength(1)
      },
    )

    it.each(['0', '120', '86400', '1000000000', 'Wed, 21 Oct 2026 07:28:00 GMT'])(
      'is reported with retry-after %s',
      async (text) => {
        await receives((socket) => socket.end(httpText('429 Too Many', [`Retry-After: ${text}`])))
        expect(await attempt()).toMatchObject({ status: 429, retryAfter: text })
      },
    )

    it.each(['', 'soon', '-1', '1.5', '1e9', '1, 2', '<script>', 'Wed, 21 Oct 2026 07:28:00 GMT x'])(
      'is reported without the malformed retry-after %j',
      async (text) => {
        await receives((socket) => socket.end(httpText('503 Later', [`Retry-After: ${text}`])))
        expect(await attempt()).toMatchObject({ status: 503, retryAfter: null })
      },
    )

    it('is reported when the endpoint keeps the connection open', async () => {
      const receiver = await receives((socket) =>
        socket.write(httpText('200 OK', ['content-length: 2'], 'ok')),
      )
      const outcome = await attempt()
      expect(outcome).toMatchObject({ status: 200 })
      expect(outcome.latencyMs).toBeLessThan(DEADLINE_MS / 2)
      await vi.waitFor(() => expect(receiver.sockets.size).toBe(0))
    })

    it('is reported after interim 1xx responses', async () => {
      await receives((socket) =>
        socket.end(
          `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${httpText('202 Accepted')}`,
        ),
      )
      expect(await attempt()).toMatchObject({ status: 202 })
    })

    it('is reported when it arrives before the request is read', async () => {
      await receives((socket) => socket.end(httpText('410 Gone')), { at: 'connection' })
      expect(await attempt()).toMatchObject({ status: 410 })
    })

    it.each([
      ['is cut off', (socket: TLSSocket) => socket.end(httpText('200 OK', ['content-length: 100'], 'half'))],
      [
        'is reset',
        (socket: TLSSocket) => {
          socket.write(httpText('200 OK', ['content-length: 100'], 'half'))
          setTimeout(() => socket.destroy(), 50)
        },
      ],
      [
        'is garbage',
        (socket: TLSSocket) => socket.end(httpText('200 OK', ['transfer-encoding: chunked'], 'zz\r\n')),
      ],
    ])('is reported when its body %s', async (_, respond) => {
      await receives(respond)
      expect(await attempt()).toMatchObject({ kind: 'responded', status: 200 })
    })

    it('is reported when its body drips, and the connection is closed at the deadline', async () => {
      const receiver = await receives((socket) => {
        socket.write(httpText('200 OK', ['content-length: 100000']))
        drip(socket, 'x')
      })
      const started = performance.now()
      const outcome = await attempt({ deadlineMs: SHORT_MS })
      expect(outcome).toMatchObject({ kind: 'responded', status: 200 })
      expect(outcome.latencyMs).toBeLessThan(SHORT_MS)
      expect(performance.now() - started).toBeGreaterThanOrEqual(SHORT_MS - 5)
      expect(performance.now() - started).toBeLessThan(SHORT_MS * 2)
      await vi.waitFor(() => expect(receiver.sockets.size).toBe(0))
    })

    it('is reported without reading a large body to its end', async () => {
      let sent = 0
      const receiver = await receives((socket) => {
        socket.write(httpText('200 OK', [`content-length: ${20 * MEGABYTE}`]))
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
      expect(await attempt()).toMatchObject({ kind: 'responded', status: 200 })
      expect(performance.now() - started).toBeLessThan(DEADLINE_MS)
      await vi.waitFor(() => expect(receiver.sockets.size).toBe(0))
      // Only what network buffers hold was sent.
      expect(sent).toBeLessThan(10 * MEGABYTE)
    })
  })

  describe('an attempt without a valid response', () => {
    const failed = (reason: string) => ({ kind: 'failed', reason, latencyMs: expect.any(Number) })

    it.each([
      ['never arrives', () => {}],
      ['has a status line that drips', (socket: TLSSocket) => drip(socket, 'HTTP/1.1 200 OK')],
      [
        'has headers that drip',
        (socket: TLSSocket) => {
          socket.write('HTTP/1.1 200 OK\r\nx: ')
          drip(socket, 'y')
        },
      ],
      [
        'is preceded by endless interim responses',
        (socket: TLSSocket) => drip(socket, 'HTTP/1.1 102 Processing\r\n\r\n', { whole: true }),
      ],
    ])('fails with timeout when the response %s', async (_, respond) => {
      const receiver = await receives(respond)
      const outcome = await attempt({ deadlineMs: SHORT_MS })
      expect(outcome).toEqual(failed('timeout'))
      expect(outcome.latencyMs).toBeGreaterThanOrEqual(SHORT_MS - 5)
      expect(outcome.latencyMs).toBeLessThan(SHORT_MS * 2)
      await vi.waitFor(() => expect(receiver.sockets.size).toBe(0))
    })

    it.each([
      ['has the banner of an SSH server', 'SSH-2.0-OpenSSH_9.6\r\n'],
      ['has the banner of a mail server', '220 mail.example.com ESMTP\r\n'],
      ['is an HTTP/0.9 response', '<html>canary-answer</html>'],
      ['is an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
      ['has no status', 'HTTP/1.1 OK\r\n\r\n'],
      ['has status 0', httpText('000 Nothing')],
      ['has status 99', httpText('099 Nothing')],
      ['has status 600', httpText('600 Too Much')],
      ['has status 999', httpText('999 Too Much')],
      ['has a malformed header', 'HTTP/1.1 200 OK\r\ncanary answer\r\n\r\n'],
      ['has two content lengths', httpText('200 OK', ['content-length: 1', 'content-length: 2'])],
      ['has a header over the size limit', httpText('200 OK', [`x: ${'y'.repeat(17_000)}`])],
      ['has too many headers', httpText('200 OK', Array(2_000).fill('x: canary-answer'))],
      ['has a reason phrase over the size limit', httpText(`200 ${'y'.repeat(17_000)}`)],
      [
        'has interim responses over the size limit',
        'HTTP/1.1 103 Early Hints\r\nlink: canary\r\n\r\n'.repeat(2_000),
      ],
    ])('fails with protocol when the response %s', async (_, bytes) => {
      await receives((socket) => socket.write(bytes))
      expect(await attempt()).toEqual(failed('protocol'))
    })

    it.each([
      ['at once', (socket: TLSSocket) => socket.end()],
      ['by a reset', (socket: TLSSocket) => socket.destroy()],
      ['within the status line', (socket: TLSSocket) => socket.end('HTTP/1.1 20')],
      ['within the headers', (socket: TLSSocket) => socket.end('HTTP/1.1 200 OK\r\nx: y\r\n')],
    ])('fails when the receiver closes the connection %s', async (_, respond) => {
      await receives(respond)
      const outcome = await attempt()
      expect(outcome.kind).toBe('failed')
      expect(['connection', 'protocol']).toContain('reason' in outcome && outcome.reason)
    })

    it('fails with connection when the endpoint switches protocols', async () => {
      const receiver = await receives((socket) =>
        socket.write('HTTP/1.1 101 Switching\r\nupgrade: canary\r\nconnection: upgrade\r\n\r\n'),
      )
      expect(await attempt()).toEqual(failed('connection'))
      await vi.waitFor(() => expect(receiver.sockets.size).toBe(0))
    })

    it('fails with tls when TLS breaks after the handshake', async () => {
      const receiver = await receives(() => {
        for (const socket of receiver.sockets) socket.write(httpText('200 OK'))
      })
      expect(await attempt()).toEqual(failed('tls'))
    })

    it('fails with connection_refused when the port is closed', async () => {
      expect(await attempt()).toEqual(failed('connection_refused'))
    })

    it('fails when the connection is reset during the handshake', async () => {
      await listens(createServer((socket) => socket.resetAndDestroy()))
      expect((await attempt()).kind).toBe('failed')
    })

    it('fails with tls when the endpoint speaks plain HTTP', async () => {
      await listens(http.createServer((_, response) => response.end('canary-answer')))
      expect(await attempt()).toEqual(failed('tls'))
    })

    it('fails with timeout when the handshake hangs', async () => {
      await listens(createServer(() => {}))
      expect(await attempt({ deadlineMs: SHORT_MS })).toEqual(failed('timeout'))
    })
  })

  it('fails with timeout after 15 seconds by default', async () => {
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
})
