/** Which endpoints webhook attempts connect to: certificates, addresses, names and the allowed host. */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { isPublicAddress } from '../../../../shared/delivery/webhooks/public-address.ts'
import { dnsAddresses } from '../../../../shared/delivery/webhooks/webhook-transport.ts'
import { selfSigned } from '../../../support/certificates.ts'
import { type Answers, a, aaaa, cname } from '../../../support/name-server.ts'
import {
  fillBacklog,
  httpText,
  NAME,
  PORT,
  receiverNetwork,
  SHORT_MS,
} from '../../../support/webhook-receiver.ts'

const RECEIVER = '127.0.0.2'

// Only Linux has all of 127.0.0.0/8 as loopback addresses.
describe.skipIf(process.platform !== 'linux')('the webhook transport', () => {
  const { names, attempt, attemptForReal, receives } = receiverNetwork({
    receiver: RECEIVER,
    watched: ['127.0.0.1', '127.0.0.3', '::1'],
  })

  describe('a certificate', () => {
    it.each([
      ['for another name', { dns: 'other.example.com' }],
      ['for the parent domain', { dns: 'example.com' }],
      ['for a wildcard of the top-level domain', { dns: '*.com' }],
      ['for the IP address', { ip: RECEIVER }],
      ['that has expired', { dns: NAME, from: -2, to: -1 }],
      ['that is not yet valid', { dns: NAME, from: 1, to: 2 }],
    ])('%s is rejected', async (what, facts) => {
      const wrong = selfSigned(facts)
      const receiver = await receives((socket) => socket.end(httpText('200 OK')), { certificate: wrong })
      const reason = what === 'that has expired' ? 'certificate_expired' : 'tls'
      expect(await attempt({ tls: { ca: wrong.cert } })).toMatchObject({ kind: 'failed', reason })
      expect(receiver.requests).toEqual([])
    })

    it('from an untrusted authority is rejected', async () => {
      const receiver = await receives((socket) => socket.end(httpText('200 OK')))
      expect(await attempt({ tls: undefined })).toMatchObject({ kind: 'failed', reason: 'tls' })
      expect(await attempt({ tls: { ca: selfSigned({ dns: NAME }).cert } })).toMatchObject({ reason: 'tls' })
      expect(receiver.requests).toEqual([])
    })

    it('is verified although NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
      vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
      onTestFinished(() => void vi.unstubAllEnvs().restoreAllMocks())
      const receiver = await receives((socket) => socket.end(httpText('200 OK')))
      expect(await attempt({ tls: undefined })).toMatchObject({ kind: 'failed', reason: 'tls' })
      expect(receiver.requests).toEqual([])
    })

    it('for a wildcard of the domain is accepted', async () => {
      const wildcard = selfSigned({ dns: '*.example.com' })
      await receives((socket) => socket.end(httpText('200 OK')), { certificate: wildcard })
      expect(await attempt({ tls: { ca: wildcard.cert } })).toMatchObject({ status: 200 })
    })
  })

  describe('a name with several addresses', () => {
    const both = (address: string) => address === RECEIVER || address === '127.0.0.4'

    it('connects to the second address when the connection to the first fails', async () => {
      names.answer(({ type }) => (type === 'A' ? [a(NAME, '127.0.0.4'), a(NAME, RECEIVER)] : []))
      await receives((socket) => socket.end(httpText('200 OK')))
      expect(await attempt({ isAllowed: both })).toMatchObject({ status: 200 })
    })

    it('connects to the second address when the first does not respond', async () => {
      await fillBacklog('127.0.0.4')
      names.answer(({ type }) => (type === 'A' ? [a(NAME, '127.0.0.4'), a(NAME, RECEIVER)] : []))
      await receives((socket) => socket.end(httpText('200 OK')))
      const outcome = await attempt({ isAllowed: both, deadlineMs: 2_000 })
      expect(outcome).toMatchObject({ status: 200 })
      expect(outcome.latencyMs).toBeGreaterThanOrEqual(2_000 / 3 - 5)
    })

    it('fails with connection before the deadline when no address responds', async () => {
      await fillBacklog('127.0.0.4')
      names.answer(({ type }) => (type === 'A' ? [a(NAME, '127.0.0.4')] : []))
      const outcome = await attempt({ isAllowed: both, deadlineMs: SHORT_MS })
      expect(outcome).toMatchObject({ kind: 'failed', reason: 'connection' })
      expect(outcome.latencyMs).toBeLessThan(SHORT_MS)
    })

    it('does not send the request again after a broken connection', async () => {
      names.answer(({ type }) => (type === 'A' ? [a(NAME, RECEIVER), a(NAME, RECEIVER)] : []))
      const receiver = await receives((socket) => socket.destroy())
      expect(await attempt()).toMatchObject({ kind: 'failed', reason: 'connection' })
      expect(receiver.requests).toHaveLength(1)
    })

    it('is rejected without a connection when one address is private', async () => {
      const receiver = await receives((socket) => socket.end(httpText('200 OK')))
      for (const addresses of [
        ['127.0.0.3', RECEIVER],
        [...Array<string>(20).fill(RECEIVER), '127.0.0.3'],
      ]) {
        names.answer(({ type }) => (type === 'A' ? addresses.map((address) => a(NAME, address)) : []))
        expect(await attempt()).toMatchObject({ reason: 'private_address' })
      }
      names.answer(({ type }) => (type === 'A' ? [a(NAME, RECEIVER)] : [aaaa(NAME, '::1')]))
      expect(await attempt()).toMatchObject({ reason: 'private_address' })
      expect(receiver.requests).toEqual([])
    })
  })

  describe('name resolution', () => {
    it('succeeds with one address family, and through aliases', async () => {
      await receives((socket) => socket.end(httpText('200 OK')))
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
      ['an unknown name', 'NXDOMAIN' as Answers],
      ['a SERVFAIL response', 'SERVFAIL' as Answers],
      ['a REFUSED response', 'REFUSED' as Answers],
      ['a loop of aliases', [cname(NAME, 'b.example.com'), cname('b.example.com', NAME)]],
    ])('fails with dns for %s', async (_, answers) => {
      names.answer(() => answers)
      expect(await attempt()).toMatchObject({ kind: 'failed', reason: 'dns' })
    })

    it('fails with timeout when the name servers do not respond', async () => {
      names.answer(() => 'silence')
      // A name of its own, since the resolver repeats the query after this test.
      const outcome = await attempt({ deadlineMs: SHORT_MS }, `https://silent.example.com:${PORT}/`)
      expect(outcome).toMatchObject({ kind: 'failed', reason: 'timeout' })
      expect(outcome.latencyMs).toBeLessThan(SHORT_MS * 2)
    })

    it('fails with dns when the resolver rejects', async () => {
      const resolve = () => Promise.reject(new Error('canary'))
      expect(await attempt({ resolve })).toMatchObject({ kind: 'failed', reason: 'dns' })
    })

    it('does not use the hosts file', async () => {
      names.answer(() => 'NXDOMAIN')
      expect(await attempt()).toMatchObject({ reason: 'dns' })
      await expect(dnsAddresses(names.resolver())('localhost')).resolves.toEqual([])
    })
  })

  describe('a name that resolves to a private address', () => {
    it.each(['127.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1'])(
      'is rejected for %s',
      async (address) => {
        const record = address.includes(':') ? aaaa : a
        names.answer(({ type }) => [record(NAME, address)].filter((found) => found.type === type))
        expect(await attemptForReal()).toMatchObject({ kind: 'failed', reason: 'private_address' })
        names.answer(({ type }) => [
          cname(NAME, 'innocent.example.net'),
          ...[record('innocent.example.net', address)].filter((found) => found.type === type),
        ])
        expect(await attemptForReal()).toMatchObject({ kind: 'failed', reason: 'private_address' })
        expect(await attemptForReal('https://hooks.example.com/')).toMatchObject({
          reason: 'private_address',
        })
      },
    )

    it('is not resolved again between the check and the connection', async () => {
      const receiver = await receives((socket) => socket.end(httpText('200 OK')))
      const asked = { A: 0, AAAA: 0 }
      names.answer(({ name, type }) => {
        if (name !== NAME) return []
        asked[type] += 1
        if (asked[type] === 1) return type === 'A' ? [a(NAME, RECEIVER)] : []
        return type === 'A' ? [a(NAME, '127.0.0.1')] : [aaaa(NAME, '::1')]
      })
      expect(await attempt()).toMatchObject({ kind: 'responded', status: 200 })
      expect(asked).toEqual({ A: 1, AAAA: 1 })
      expect(await attempt()).toMatchObject({ kind: 'failed', reason: 'private_address' })
      expect(asked).toEqual({ A: 2, AAAA: 2 })
      expect(receiver.requests).toHaveLength(1)
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
    ])('%s is reached over http on its port only', async (host, written) => {
      const { port } = await allow(host)
      const url = `http://${written}:${port}/in`
      const settings = { isAllowed: isPublicAddress, allowedHost: `${written}:${port}` }
      expect(await attempt(settings, url)).toMatchObject({ kind: 'responded', status: 202 })
      expect(await attempt({ isAllowed: isPublicAddress }, url)).toMatchObject({ reason: 'invalid_url' })
      expect(await attempt(settings, `http://${written}:${PORT}/in`)).toMatchObject({ reason: 'invalid_url' })
      expect(await attempt(settings, `https://${written}:${PORT}/in`)).toMatchObject({
        reason: 'invalid_url',
      })
    })

    it('is reached over https with its own certificate', async () => {
      const own = selfSigned({ ip: RECEIVER })
      const receiver = await receives((socket) => socket.end(httpText('202 Accepted')), { certificate: own })
      const settings = {
        isAllowed: isPublicAddress,
        allowedHost: `${RECEIVER}:${PORT}`,
        tls: { ca: own.cert },
      }
      expect(await attempt(settings, `https://${RECEIVER}:${PORT}/in`)).toMatchObject({ status: 202 })
      // RFC 6066 does not allow an address as the server name.
      expect(receiver.requests[0]?.serverName).toBe(false)
    })

    it('does not exempt other hosts from the checks', async () => {
      const settings = { isAllowed: isPublicAddress, allowedHost: `127.0.0.1:${PORT}` }
      names.answer(({ type }) => (type === 'A' ? [a(NAME, '127.0.0.1')] : []))
      expect(await attempt(settings)).toMatchObject({ reason: 'private_address' })
    })
  })
})
