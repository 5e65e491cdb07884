import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { webhookTransport } from '../../../../shared/delivery/webhooks/webhook-transport.ts'
import { webhookUrlIssue } from '../../../../shared/domain/webhooks/webhook-url.ts'
import { property } from '../../../support/scale.ts'
import { ACCEPTED, REJECTED } from './webhook-url-samples.ts'

const ALL_REJECTED = Object.values(REJECTED).flat()

it('accepts URLs of public hosts', () => {
  expect(ACCEPTED.filter((url) => webhookUrlIssue(url) !== null)).toEqual([])
})

it('has more than 400 distinct rejected URLs in its samples', () => {
  expect(ALL_REJECTED.length).toBeGreaterThan(400)
  expect(ALL_REJECTED.filter((url, index) => ALL_REJECTED.indexOf(url) !== index)).toEqual([])
})

it.each(Object.entries(REJECTED))('rejects URLs with %s', (_, urls) => {
  const isRejected = (url: string) => /^must [^\p{Cc}]{5,}$/u.test(webhookUrlIssue(url) ?? '')
  expect(urls.filter((url) => !isRejected(url))).toEqual([])
})

it.each([
  [`https://example.com/${'a'.repeat(2029)}`, 'must be at most 2,048 characters'],
  [`https://example.com/${'"'.repeat(1000)}`, 'must be at most 2,048 characters when encoded'],
  [
    'https://bücher.de/',
    'must have no spaces, backslashes or characters outside ASCII: encode them, a host as punycode',
  ],
  ['example.com', 'must be a URL, such as https://example.com/webhooks'],
  ['http://example.com/', 'must begin with https://'],
  ['https://user:secret@example.com/', 'must have no user name or password'],
  ['https://example.com/#top', 'must have no fragment'],
  ['https://example.com:3000/', 'must use port 443 or 8443'],
  ['https://203.0.113.7/', 'must have a host name, not an IP address'],
  ['https://[2001:db8::7]/', 'must have a host name, not an IP address'],
  ['https://example.com./', 'must have a host name without a dot at its end'],
  ['https://localhost/', 'must have a public host name'],
  ['https://receiver/', 'must have a public host name'],
  ['https://receiver.internal/', 'must have a public host name'],
  ['https://exa_mple.com/', 'must have a valid host name'],
  ['https://xn--a.com/', 'must have a valid host name'],
  ['https:example.com', 'must be written plainly, as https://host/path'],
])('webhookUrlIssue of %s names the rule that it breaks', (url, issue) => {
  expect(webhookUrlIssue(url)).toBe(issue)
})

describe('the allowed host', () => {
  it.each([
    ['http://localhost:4010/in', 'localhost:4010'],
    ['https://localhost:4010/in', 'localhost:4010'],
    ['http://LOCALHOST:4010/in', 'localhost:4010'],
    ['http://127.0.0.1:4010', '127.0.0.1:4010'],
    ['http://[::1]:4010', '[::1]:4010'],
    ['http://localhost/in', 'localhost:80'],
    ['https://localhost/in', 'localhost:443'],
    ['http://Receiver:4010/in', 'Receiver:4010'],
    ['https://example.com/in', 'localhost:4010'],
    ['http://localhost:4010/in', 'localhost'],
    ['http://127.0.0.1:4011/in', 'localhost'],
    ['http://[::1]/in', 'localhost'],
  ])('accepts %s when it is %s', (url, allowed) => {
    expect(webhookUrlIssue(url, allowed)).toBeNull()
    expect(webhookUrlIssue(new URL(url).href, allowed)).toBeNull()
  })

  it.each([
    ['http://localhost:4011/in', 'localhost:4010'],
    ['http://localhost/in', 'localhost:4010'],
    ['http://127.0.0.1:4010/in', 'localhost:4010'],
    ['http://localhost.:4010/in', 'localhost:4010'],
    ['http://a.localhost:4010/in', 'localhost:4010'],
    ['http://localhost:4010.example.com/in', 'localhost:4010'],
    ['http://localhost:4010@127.0.0.1/in', 'localhost:4010'],
    ['http://user@localhost:4010/in', 'localhost:4010'],
    ['http://localhost:4010\\@127.0.0.1/in', 'localhost:4010'],
    ['http://localhost:4010/in#top', 'localhost:4010'],
    ['ftp://localhost:4010/in', 'localhost:4010'],
    ['http://example.com/in', 'localhost:4010'],
    ['http://localhost:4010/in', ''],
    ['http://10.0.0.1:4010/in', 'localhost'],
    ['http://localhost.example.com/in', 'localhost'],
    ['ftp://localhost/in', 'localhost'],
    ['ftp://localhost/in', 'localhost:undefined'],
    ['constructor://localhost/in', 'localhost:'],
  ])('rejects %s when it is %j', (url, allowed) => {
    expect(webhookUrlIssue(url, allowed)).not.toBeNull()
  })
})

describe('an accepted URL', () => {
  it('is accepted again in its stored form', () => {
    const label = fc.stringMatching(/^[a-zA-Z0-9_%-]{1,20}$/)
    const url = fc
      .tuple(
        fc.constantFrom('https://', 'HTTPS://', 'https:', 'http://'),
        fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.')),
        fc.constantFrom('', '.com', '.local', '.xn--p1ai'),
        fc.constantFrom('', ':443', ':8443', ':80'),
        fc.stringMatching(/^(?:[/?][!-~]{0,30})?$/),
      )
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.oneof(url, fc.webUrl({ withQueryParameters: true })), (text) => {
        fc.pre(webhookUrlIssue(text) === null)
        const kept = new URL(text).href
        expect(webhookUrlIssue(kept)).toBeNull()
        expect(new URL(kept).href).toBe(kept)
      }),
      property(200, 50_000),
    )
  })

  it('has the host that it appears to have', () => {
    const disturbed = fc
      .tuple(
        fc.constantFrom(...ACCEPTED.slice(0, -2)),
        fc.nat(40),
        fc.string({
          unit: fc.oneof(fc.constantFrom(...'@:/?#.%[]\\-0x'), fc.string({ unit: 'binary' })),
          maxLength: 3,
        }),
      )
      .map(([url, position, strange]) => url.slice(0, position) + strange + url.slice(position))
    fc.assert(
      fc.property(disturbed, (text) => {
        fc.pre(webhookUrlIssue(text) === null)
        const [, host = ''] = /^https:\/\/([a-z0-9.-]+)(?::443|:8443)?(?:[/?]|$)/i.exec(text) ?? []
        expect(new URL(text).hostname).toBe(host.toLowerCase())
      }),
      property(200, 50_000),
    )
  })
})

describe('webhookUrlIssue', () => {
  const longHost = (length: number) => {
    const label = 'a'.repeat(63)
    return `${[label, label, label, 'b'.repeat(length - 3 * 64 - '.com'.length)].join('.')}.com`
  }

  it.each([
    ['a top-level domain that ends like a reserved one', 'https://example.contest/'],
    ['a top-level domain that begins like a reserved one', 'https://example.testing/'],
    ['a top-level domain that ends with a digit', 'https://example.x1/'],
    ['a top-level domain that begins with a digit', 'https://example.1x/'],
    ['a host of 253 characters', `https://${longHost(253)}/`],
  ])('accepts %s', (_, url) => {
    expect(webhookUrlIssue(url)).toBeNull()
  })

  it.each([
    ['an IP address that ends with several digits', 'https://203.0.113.44/', /not an IP address/],
    ['a password without a user name', 'https://:secret@example.com/', /no user name or password/],
    ['a host of 254 characters', `https://${longHost(254)}/`, /valid host name/],
    ['a path that repeats the URL', 'https:example.com/https://example.com/', /written plainly/],
  ])('rejects %s', (_, url, issue) => {
    expect(webhookUrlIssue(url)).toMatch(issue)
  })
})

// Only Linux has all of 127.0.0.0/8 as loopback addresses.
describe.skipIf(process.platform !== 'linux')('the webhook transport', () => {
  const LISTENER = '127.0.0.5'
  let connections = 0
  const listeners: Server[] = []

  beforeAll(async () => {
    for (const port of [443, 8443]) {
      const listener = createServer((socket) => {
        connections += 1
        socket.destroy()
      })
      listener.listen(port, LISTENER)
      await once(listener, 'listening').then(
        () => listeners.push(listener),
        // Ports below 1024 may be privileged: the other listener remains.
        (error) => expect([port, error.code]).toEqual([443, 'EACCES']),
      )
    }
  })

  afterAll(() => {
    for (const listener of listeners) listener.close()
  })

  it('does not resolve the host of a rejected URL', async () => {
    const resolved: string[] = []
    // Every address is allowed, so only the check of the URL prevents a connection.
    const { post } = webhookTransport({
      isAllowed: () => true,
      deadlineMs: 2_000,
      resolve: async (name) => {
        resolved.push(name)
        return [LISTENER]
      },
    })
    const outcomes = await Promise.all(ALL_REJECTED.map((url) => post(url, {}, '{}')))
    const strange = ALL_REJECTED.filter((_, index) => {
      const outcome = outcomes[index]
      return !(outcome?.kind === 'failed' && outcome.reason === 'invalid_url')
    })
    expect(strange).toEqual([])
    expect(resolved).toEqual([])
    expect(connections).toBe(0)

    // An accepted URL does reach the listener.
    await post('https://example.com:8443/', {}, '{}')
    expect(connections).toBe(1)
  })
})
