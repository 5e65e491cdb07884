import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { webhookTransport } from '../../../shared/delivery/webhook-transport.ts'
import { webhookUrlIssue } from '../../../shared/domain/webhook-url.ts'
import { property } from '../../support/scale.ts'

const GOOD = [
  'https://example.com',
  'https://example.com/',
  'https://example.com/webhooks',
  'https://example.com:443/webhooks',
  'https://example.com:8443/webhooks',
  'https://example.com?token=abc',
  'https://example.com/a/b/c?x=1&y=2&z=%20',
  'https://example.org/hooks',
  'https://hooks.example.net/in',
  'HTTPS://EXAMPLE.COM/Hooks',
  'https://Example.Com/Hooks',
  'https://a.b.c.d.e.f.example.com/',
  'https://x.co',
  'https://1.example.com/',
  'https://123.com/',
  'https://1-2-3.example.com/',
  'https://127.0.0.1.example.com/',
  'https://localhost.example.com/',
  'https://internal.example.com/',
  'https://mylocal.dev/',
  'https://notlocalhost.com/',
  'https://local.com/',
  'https://test.com/',
  'https://arpa.net/',
  'https://home.co.uk/',
  'https://xn--bcher-kva.de/',
  'https://xn--80ak6aa92e.com/',
  'https://example.xn--p1ai/',
  'https://xn--fiqs8s.xn--fiqs8s/',
  'https://r3---sn-abc.googlevideo.com/',
  'https://example.com/%C3%BC',
  'https://example.com/@user',
  'https://example.com/a@b:c',
  'https://example.com/?q=@127.0.0.1',
  'https://example.com/http://127.0.0.1/',
  'https://example.com/.well-known/hook;v=1',
  'https://example.com/a|b"c<d>{e}',
  'https://example.com/a/../b',
  'https://hooks.eu-central-1.amazonaws.com/in',
  'https://abc123.execute-api.eu-central-1.amazonaws.com/prod/hook',
  `https://${'a'.repeat(63)}.com/`,
  `https://example.com/${'a'.repeat(2048 - 20)}`,
]

const INSTANCE_METADATA = [
  '169.254.169.254',
  '2852039166',
  '0xa9fea9fe',
  '0xA9FEA9FE',
  '025177524776',
  '0251.0376.0251.0376',
  '0xa9.0xfe.0xa9.0xfe',
  '0xa9.254.0251.254',
  '169.254.43518',
  '169.16689662',
  '169.254.169.254.',
  '%31%36%39.254.169.254',
  '１６９．２５４．１６９．２５４',
  '①⑥⑨.②⑤④.①⑥⑨.②⑤④',
  '169。254。169。254',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[0:0:0:0:0:ffff:a9fe:a9fe]',
  '[::169.254.169.254]',
  '[64:ff9b::169.254.169.254]',
  '[2002:a9fe:a9fe::]',
  '[fd00:ec2::254]',
  '[fe80::a9fe:a9fe]',
]

const LOOPBACK = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '017700000001',
  '0177.0.0.1',
  '0177.0.0.01',
  '0x7f.1',
  '0x7f.0.0.1',
  '0x7f000001',
  '0X7F000001',
  '0x7f.0x0.0x0.0x1',
  '127.0.0.0x1',
  '00000177.1',
  '127.0.0.1.',
  '127.0.0.1..',
  '１２７.0.0.1',
  '１２７．０．０．１',
  '⑫7.0.0.1',
  '𝟏𝟐𝟕.𝟎.𝟎.𝟏',
  '127。0。0。1',
  '127｡0｡0｡1',
  '127%2e0%2e0%2e1',
  '%31%32%37.0.0.1',
  '127.0.0.1%00',
  '127.0.0.1%00.example.com',
  '127.0.0.1%23.example.com',
  '0',
  '0.0.0.0',
  '0x0',
  '00',
  '0.0',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[0000::0001]',
  '[::0.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::FFFF:7F00:1]',
  '[::ffff:0:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[::1%25lo]',
  '[::1%lo]',
  '[fe80::1]',
  '[fe80::1%25eth0]',
  '[fe80::1%eth0]',
  '::1',
  '::ffff:127.0.0.1',
]

const OTHER_ADDRESSES = [
  '1.1.1.1',
  '8.8.8.8',
  '134744072',
  '10.0.0.1',
  '10.1',
  '167772161',
  '172.16.0.1',
  '192.168.0.1',
  '192.168.1',
  '3232235777',
  '0xc0.0xa8.0.1',
  '100.64.0.1',
  '198.18.0.1',
  '192.0.2.1',
  '203.0.113.7',
  '224.0.0.1',
  '255.255.255.255',
  '4294967295',
  '4294967296',
  '256.256.256.256',
  '999.1.1.1',
  '1.2.3.4.5',
  '0x100000000',
  '1.0x',
  '0x',
  '0x.0x.0x',
  '08.1.1.1',
  'example.1',
  'example.com.0x7f',
  'example.com.1',
  'example.0',
  '[2606:4700:4700::1111]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[ff02::1]',
  '[2001:db8::1]',
  '[fec0::1]',
  '[v1.fe80]',
  '[::1',
  '::1]',
  '[]',
  '[127.0.0.1]',
  '[example.com]',
]

const NAMES = [
  'localhost',
  'LOCALHOST',
  'LocalHost',
  'localhost.',
  'localhost..',
  'localhost.localdomain',
  'localhost.localdomain.',
  'localhost6',
  'ip6-localhost',
  'ip6-loopback',
  'foo.localhost',
  'foo.localhost.',
  'a.b.LOCALHOST',
  'ｌｏｃａｌｈｏｓｔ',
  'ⓛocalhost',
  'localho\u017ft',
  'local\u00adhost',
  'local\u200bhost',
  'local\u200dhost',
  'local\u2060host',
  'local\ufeffhost',
  'loc%61lhost',
  '%6cocalhost',
  'broadcasthost',
  'kubernetes',
  'instance-data',
  'instance-data.',
  'instance-data.ec2.internal',
  'ip-10-0-0-1.ec2.internal',
  'ip-10-0-0-1.eu-central-1.compute.internal',
  'metadata',
  'metadata.google.internal',
  'metadata.google.internal.',
  'METADATA.GOOGLE.INTERNAL',
  'host.docker.internal',
  'kubernetes.default.svc.cluster.local',
  'printer.local',
  'printer.LOCAL',
  'server.lan',
  'server.home',
  'server.home.arpa',
  '1.0.0.127.in-addr.arpa',
  'server.corp',
  'server.private',
  'server.intranet',
  'server.internal',
  'server.localdomain',
  'server.test',
  'server.example',
  'server.invalid',
  'server.alt',
  'abcdefghij234567.onion',
  'com',
  'com.',
  'example',
  'example.com.',
  'example.com..',
  'example..com',
  '.example.com',
  '.',
  '..',
  '-example.com',
  'example-.com',
  'exa_mple.com',
  '_dmarc.example.com',
  'exa*mple.com',
  '*.example.com',
  'exa,mple.com',
  "exa'mple.com",
  'exa!mple.com',
  'exa$mple.com',
  'exa(mple).com',
  'exa~mple.com',
  'exa;mple.com',
  'exa=mple.com',
  'exa&mple.com',
  'exa+mple.com',
  'exa|mple.com',
  'exa^mple.com',
  'exa<mple.com',
  'exa>mple.com',
  'exa{mple}.com',
  'exa`mple.com',
  'exa"mple.com',
  'exa%mple.com',
  'exa%20mple.com',
  'exa%00mple.com',
  'exa%2fmple.com',
  'exa%40mple.com',
  'ex%61mple.com',
  'example%2ecom',
  'example.com%2f.internal',
  'example.com%40127.0.0.1',
  `${'a'.repeat(64)}.com`,
  `${'a.'.repeat(126)}com`,
  'xn--',
  'xn--.com',
  'xn--a.com',
  'xn--0.com',
  'xn--zzzzzzzz.com',
  'a.xn--b',
  // Punycode of what was ASCII all along.
  'xn--example-.com',
  'xn--localhost-',
  'xn--localhost-.',
  // Of a fraction, of an upper case letter, of a full-width digit: no name has them.
  'xn--ab-yzc.com',
  'xn--a-ecp.ru',
  'xn--u-ccb.com',
  'bücher.de',
  'аpple.com',
  'example。com',
  'example．com',
  'example｡com',
  'exam\u00adple.com',
  'exam\u200bple.com',
  'exam\u200cple.com',
  'exam\u2060ple.com',
  'exam\ufe0fple.com',
  'exam\u180eple.com',
  'ex\u0430mple.com',
  'example.com\u2024evil.com',
  'example.com\u2100evil.com',
  'example.com\uff0fevil.com',
  'example.com\uff03evil.com',
  'example.com\uff1f.evil.com',
  'example.com\u202e.evil.com',
  'example.com\ud800',
  '\u212aelvin.io',
]

const USERINFO = [
  'https://a@example.com/',
  'https://@example.com/',
  'https://:@example.com/',
  'https://a:b@example.com/',
  'https://:b@example.com/',
  'https://%20@example.com/',
  'https://example.com@127.0.0.1/',
  'https://example.com:443@127.0.0.1/',
  'https://example.com:443@127.0.0.1:443/',
  'https://example.com%40127.0.0.1@127.0.0.1/',
  'https://a@b@127.0.0.1/',
  'https://a@127.0.0.1@example.com/',
  'https://127.0.0.1:443@example.com/',
  'https://127.0.0.1%2f@example.com/',
  'https://example.com\\@127.0.0.1/',
  'https://example.com\\\\@127.0.0.1/',
  'https://example.com\\.evil.com/',
  'https://127.0.0.1\\@example.com/',
  'https://example.com&@127.0.0.1/',
  'https://example.com;@127.0.0.1/',
  'https://example.com#@127.0.0.1/',
  'https://127.0.0.1#@example.com/',
  'https://example.com /@127.0.0.1/',
]

const SCHEMES = [
  '',
  ' ',
  'example.com',
  'example.com/hook',
  '//example.com/hook',
  '/hook',
  'https',
  'https:',
  'https:/',
  'https://',
  'https:///',
  'https:example.com',
  'https:/example.com',
  'https:///example.com',
  'https:////example.com',
  'https:\\\\example.com',
  'https:/\\example.com',
  'https//example.com',
  'https//:example.com',
  'http s://example.com',
  'https ://example.com',
  'http://example.com',
  'http://example.com:443/',
  'http://example.com:8443/',
  'HTTP://example.com/',
  'http:example.com',
  'http://127.0.0.1/',
  'http://localhost:8443/',
  'ws://example.com/',
  'wss://example.com/',
  'ftp://example.com/',
  'ftps://example.com/',
  'sftp://example.com/',
  'file:///etc/passwd',
  'file://example.com/etc/passwd',
  'gopher://example.com:443/_GET',
  'dict://example.com:443/',
  'ldap://example.com/',
  'data:text/plain,hello',
  'javascript:alert(1)',
  'blob:https://example.com/1',
  'about:blank',
  'mailto:a@example.com',
  'unix:/var/run/docker.sock',
  'jar:https://example.com!/',
  'view-source:https://example.com/',
  'https+unix://example.com/',
  'xhttps://example.com/',
  'httpss://example.com/',
  'httрs://example.com/',
  'null',
  'undefined',
]

const PORTS = [
  'https://example.com:80/',
  'https://example.com:22/',
  'https://example.com:25/',
  'https://example.com:0/',
  'https://example.com:1/',
  'https://example.com:442/',
  'https://example.com:444/',
  'https://example.com:8442/',
  'https://example.com:8444/',
  'https://example.com:65535/',
  'https://example.com:65536/',
  'https://example.com:65979/',
  'https://example.com:4294967739/',
  'https://example.com:-443/',
  'https://example.com:+443/',
  'https://example.com:443.0/',
  'https://example.com:0443/',
  'https://example.com:00443/',
  'https://example.com:08443/',
  'https://example.com:/',
  'https://example.com:443:443/',
  'https://example.com::443/',
  'https://example.com:443a/',
  'https://example.com:a/',
  'https://example.com:４４３/',
  'https://example.com:%34%34%33/',
  'https://127.0.0.1:443/',
  'https://localhost:8443/',
]

const CHARACTERS = [
  ' https://example.com/',
  'https://example.com/ ',
  '\thttps://example.com/',
  'https://example.com/\n',
  'https://example.com/\r\n',
  'https://example.com/\u0000',
  '\u0000https://example.com/',
  '\u0001https://example.com/',
  'ht\ttps://example.com/',
  'https:/\t/example.com/',
  'https://exam\tple.com/',
  'https://exam\nple.com/',
  'https://exam\rple.com/',
  'https://127.0\n.0.1/',
  'https://local\thost/',
  'https://exam ple.com/',
  'https://example.com/a b',
  'https://example.com/a\tb',
  'https://example.com/a\nHost: 127.0.0.1',
  'https://example.com/\r\nHost: 127.0.0.1\r\n',
  'https://example.com/?a=\r\nb',
  'https://example.com/\\..\\',
  'https://example.com/\u007f',
  'https://example.com/\u0085',
  'https://example.com/\u00a0',
  'https://example.com/\u2028',
  'https://example.com/\u3000',
  'https://example.com/ü',
  'https://example.com/\u202egnp.exe',
  '\ufeffhttps://example.com/',
  'https://example.com/\ud800',
  'https://example.com/#',
  'https://example.com/#fragment',
  'https://example.com#',
  'https://example.com?#',
  `https://example.com/${'a'.repeat(3000)}`,
  `https://example.com/${'a'.repeat(2029)}`,
  // Within the length as written, beyond it once encoded.
  `https://example.com/${'"'.repeat(1000)}`,
  `https://${'a'.repeat(3000)}.com/`,
  `https://example.com/?${'a='.repeat(2000)}`,
]

const HOSTILE = [
  ...[...INSTANCE_METADATA, ...LOOPBACK, ...OTHER_ADDRESSES, ...NAMES].map((host) => `https://${host}/`),
  ...[...INSTANCE_METADATA, ...LOOPBACK].map((host) => `https://${host}:8443/`),
  ...USERINFO,
  ...SCHEMES,
  ...PORTS,
  ...CHARACTERS,
]

it.each(GOOD)('%s can be a webhook', (url) => {
  expect(webhookUrlIssue(url)).toBeNull()
})

it('has many hostile addresses, each once', () => {
  expect(HOSTILE.length).toBeGreaterThan(400)
  expect(HOSTILE.filter((url, index) => HOSTILE.indexOf(url) !== index)).toEqual([])
})

it.each(HOSTILE.map((url) => [url]))('%j cannot', (url) => {
  expect(webhookUrlIssue(url)).toMatch(/^must [^\p{Cc}]{5,}$/u)
})

describe('the issue', () => {
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
  ])('of %s says what to do', (url, issue) => {
    expect(webhookUrlIssue(url)).toBe(issue)
  })
})

describe('the one allowed host', () => {
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
  ])('%s passes while it is %s', (url, allowed) => {
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
    ['http://localhost:4010/in', 'localhost'],
    ['ftp://localhost/in', 'localhost:undefined'],
    ['constructor://localhost/in', 'localhost:'],
  ])('%s does not pass while it is %j', (url, allowed) => {
    expect(webhookUrlIssue(url, allowed)).not.toBeNull()
  })
})

describe('an accepted address', () => {
  it('is accepted again as it is kept', () => {
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
      property(500, 50_000),
    )
  })

  it('shows its host to any reader', () => {
    const disturbed = fc
      .tuple(
        fc.constantFrom(...GOOD.slice(0, -2)),
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
      property(500, 50_000),
    )
  })
})

// Of the loopback addresses, other systems than Linux have only the first, which is for other tests.
describe.skipIf(process.platform !== 'linux')('the transport', () => {
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
        // Ports below 1024 may not be this user's to open: the other still listens.
        (error) => expect([port, error.code]).toEqual([443, 'EACCES']),
      )
    }
  })

  afterAll(() => {
    for (const listener of listeners) listener.close()
  })

  it('does not even look up a hostile address', async () => {
    const resolved: string[] = []
    // As lax as can be behind the check, so that only the check stands before the listener.
    const { post } = webhookTransport({
      isAllowed: () => true,
      deadlineMs: 2_000,
      resolve: async (name) => {
        resolved.push(name)
        return [LISTENER]
      },
    })
    const outcomes = await Promise.all(HOSTILE.map((url) => post(url, {}, '{}')))
    const strange = HOSTILE.filter((_, index) => {
      const outcome = outcomes[index]
      return !(outcome?.kind === 'failed' && outcome.reason === 'invalid_url')
    })
    expect(strange).toEqual([])
    expect(resolved).toEqual([])
    expect(connections).toBe(0)

    // The listener does notice what gets through.
    await post('https://example.com:8443/', {}, '{}')
    expect(connections).toBe(1)
  })
})
