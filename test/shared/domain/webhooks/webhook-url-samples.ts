/** URLs that are accepted and rejected as webhook URLs. */

const words = (text: string) => text.split(/[ \n]+/).filter(Boolean)

export const ACCEPTED = [
  ...words(`
    https://example.com https://example.com/ https://example.com/webhooks
    https://example.com:443/webhooks https://example.com:8443/webhooks
    https://example.com?token=abc https://example.com/a/b/c?x=1&y=2&z=%20
    https://example.org/hooks https://hooks.example.net/in
    HTTPS://EXAMPLE.COM/Hooks https://Example.Com/Hooks
    https://a.b.c.d.e.f.example.com/ https://x.co
    https://1.example.com/ https://123.com/ https://1-2-3.example.com/ https://127.0.0.1.example.com/
    https://localhost.example.com/ https://internal.example.com/ https://mylocal.dev/ https://notlocalhost.com/
    https://local.com/ https://test.com/ https://arpa.net/ https://home.co.uk/
    https://xn--bcher-kva.de/ https://xn--80ak6aa92e.com/ https://example.xn--p1ai/
    https://xn--fiqs8s.xn--fiqs8s/ https://r3---sn-abc.googlevideo.com/
    https://example.com/%C3%BC https://example.com/@user https://example.com/a@b:c
    https://example.com/?q=@127.0.0.1 https://example.com/http://127.0.0.1/
    https://example.com/.well-known/hook;v=1 https://example.com/a|b"c<d>{e} https://example.com/a/../b
    https://hooks.eu-central-1.amazonaws.com/in
    https://abc123.execute-api.eu-central-1.amazonaws.com/prod/hook
  `),
  `https://${'a'.repeat(63)}.com/`,
  `https://example.com/${'a'.repeat(2048 - 20)}`,
]

/** 169.254.169.254 in decimal, hexadecimal and octal, with fewer parts, encoded, in other digits, and within IPv6. */
const INSTANCE_METADATA = words(`
  169.254.169.254 169.254.169.254. 2852039166 0xa9fea9fe 0xA9FEA9FE
  025177524776 0251.0376.0251.0376 0xa9.0xfe.0xa9.0xfe 0xa9.254.0251.254
  169.254.43518 169.16689662
  %31%36%39.254.169.254 １６９．２５４．１６９．２５４ ①⑥⑨.②⑤④.①⑥⑨.②⑤④ 169。254。169。254
  [::ffff:169.254.169.254] [::ffff:a9fe:a9fe] [0:0:0:0:0:ffff:a9fe:a9fe] [::169.254.169.254]
  [64:ff9b::169.254.169.254] [2002:a9fe:a9fe::] [fd00:ec2::254] [fe80::a9fe:a9fe]
`)

/** The loopback and unspecified addresses in the same forms. */
const LOOPBACK = words(`
  127.0.0.1 127.1 127.0.1 127.255.255.254 127.0.0.1. 127.0.0.1..
  2130706433 017700000001 0177.0.0.1 0177.0.0.01 00000177.1
  0x7f.1 0x7f.0.0.1 0x7f000001 0X7F000001 0x7f.0x0.0x0.0x1 127.0.0.0x1
  １２７.0.0.1 １２７．０．０．１ ⑫7.0.0.1 𝟏𝟐𝟕.𝟎.𝟎.𝟏 127。0。0。1 127｡0｡0｡1
  127%2e0%2e0%2e1 %31%32%37.0.0.1 127.0.0.1%00 127.0.0.1%00.example.com 127.0.0.1%23.example.com
  0 0.0.0.0 0x0 00 0.0
  [::1] [::] [0:0:0:0:0:0:0:1] [0000::0001] [::0.0.0.1]
  [::ffff:127.0.0.1] [::FFFF:7F00:1] [::ffff:0:127.0.0.1] [::127.0.0.1]
  [64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] [2001:0:7f00:1::]
  [::1%25lo] [::1%lo] [fe80::1] [fe80::1%25eth0] [fe80::1%eth0]
  ::1 ::ffff:127.0.0.1
`)

const OTHER_ADDRESSES = words(`
  1.1.1.1 8.8.8.8 134744072 10.0.0.1 10.1 167772161 172.16.0.1
  192.168.0.1 192.168.1 3232235777 0xc0.0xa8.0.1
  100.64.0.1 198.18.0.1 192.0.2.1 203.0.113.7 224.0.0.1 255.255.255.255 4294967295
  4294967296 256.256.256.256 999.1.1.1 1.2.3.4.5 0x100000000 1.0x 0x 0x.0x.0x 08.1.1.1
  example.1 example.com.0x7f example.com.1 example.0
  [2606:4700:4700::1111] [fc00::1] [fd12:3456::1] [ff02::1] [2001:db8::1] [fec0::1]
  [v1.fe80] [::1 ::1] [] [127.0.0.1] [example.com]
`)

const NAMES = [
  ...words(`
    localhost LOCALHOST LocalHost localhost. localhost.. localhost.localdomain localhost.localdomain.
    localhost6 ip6-localhost ip6-loopback foo.localhost foo.localhost. a.b.LOCALHOST
    ｌｏｃａｌｈｏｓｔ ⓛocalhost localho\u017ft loc%61lhost %6cocalhost
    broadcasthost kubernetes instance-data instance-data. instance-data.ec2.internal
    ip-10-0-0-1.ec2.internal ip-10-0-0-1.eu-central-1.compute.internal
    metadata metadata.google.internal metadata.google.internal. METADATA.GOOGLE.INTERNAL
    host.docker.internal kubernetes.default.svc.cluster.local
    printer.local printer.LOCAL server.lan server.home server.home.arpa 1.0.0.127.in-addr.arpa
    server.corp server.private server.intranet server.internal server.localdomain
    server.test server.example server.invalid server.alt abcdefghij234567.onion
    com com. example example.com. example.com.. example..com .example.com . ..
    -example.com example-.com _dmarc.example.com *.example.com exa(mple).com exa{mple}.com
    ex%61mple.com example%2ecom example.com%2f.internal example.com%40127.0.0.1
    xn-- xn--.com xn--a.com xn--0.com xn--zzzzzzzz.com a.xn--b
  `),
  // Punycode of what was ASCII all along.
  ...words('xn--example-.com xn--localhost- xn--localhost-.'),
  // Punycode of a fraction, of an upper case letter, of a full-width digit: no name has them.
  ...words('xn--ab-yzc.com xn--a-ecp.ru xn--u-ccb.com'),
  ...words(`
    bücher.de аpple.com ex\u0430mple.com \u212aelvin.io example。com example．com example｡com
    example.com\u2024evil.com example.com\u2100evil.com example.com\uff0fevil.com example.com\uff03evil.com
    example.com\uff1f.evil.com example.com\u202e.evil.com example.com\ud800
  `),
  ...words('_ * , \' ! $ ~ ; = & + | ^ < > ` " % %20 %00 %2f %40').map((part) => `exa${part}mple.com`),
  // Characters that are not visible.
  ...[...'\u00ad\u200b\u200d\u2060\ufeff'].map((character) => `local${character}host`),
  ...[...'\u00ad\u200b\u200c\u2060\ufe0f\u180e'].map((character) => `exam${character}ple.com`),
  `${'a'.repeat(64)}.com`,
  `${'a.'.repeat(126)}com`,
]

const USERINFO = [
  ...words(`
    a@example.com @example.com :@example.com a:b@example.com :b@example.com %20@example.com
    example.com@127.0.0.1 example.com:443@127.0.0.1 example.com:443@127.0.0.1:443
    example.com%40127.0.0.1@127.0.0.1 a@b@127.0.0.1 a@127.0.0.1@example.com
    127.0.0.1:443@example.com 127.0.0.1%2f@example.com 127.0.0.1\\@example.com 127.0.0.1#@example.com
    example.com\\@127.0.0.1 example.com\\\\@127.0.0.1 example.com\\.evil.com
    example.com&@127.0.0.1 example.com;@127.0.0.1 example.com#@127.0.0.1
  `),
  'example.com /@127.0.0.1',
].map((authority) => `https://${authority}/`)

const SCHEMES = [
  '',
  ' ',
  'http s://example.com',
  'https ://example.com',
  ...words(`
    example.com example.com/hook //example.com/hook /hook
    https https: https:/ https:// https:/// https:example.com https:/example.com https:///example.com
    https:////example.com https:\\\\example.com https:/\\example.com https//example.com https//:example.com
    http://example.com http://example.com:443/ http://example.com:8443/ HTTP://example.com/
    http:example.com http://127.0.0.1/ http://localhost:8443/
    ws://example.com/ wss://example.com/ ftp://example.com/ ftps://example.com/ sftp://example.com/
    file:///etc/passwd file://example.com/etc/passwd gopher://example.com:443/_GET
    dict://example.com:443/ ldap://example.com/
    data:text/plain,hello javascript:alert(1) blob:https://example.com/1 about:blank mailto:a@example.com
    unix:/var/run/docker.sock jar:https://example.com!/ view-source:https://example.com/
    https+unix://example.com/ xhttps://example.com/ httpss://example.com/ httрs://example.com/
    null undefined
  `),
]

const PORTS = [
  'https://example.com:/',
  'https://127.0.0.1:443/',
  'https://localhost:8443/',
  ...words(`
    80 22 25 0 1 442 444 8442 8444 65535 65536 65979 4294967739
    -443 +443 443.0 0443 00443 08443 443:443 :443 443a a ４４３ %34%34%33
  `).map((port) => `https://example.com:${port}/`),
]

const CHARACTERS = [
  ...[' ', '\t', '\u0000', '\u0001', '\ufeff'].map((start) => `${start}https://example.com/`),
  'ht\ttps://example.com/',
  'https:/\t/example.com/',
  ...[...'\t\n\r '].map((character) => `https://exam${character}ple.com/`),
  'https://127.0\n.0.1/',
  'https://local\thost/',
  'https://example.com#',
  'https://example.com?#',
  ...[
    ...' \n\u0000\u007f\u0085\u00a0\u2028\u3000ü\ud800#',
    ...['\r\n', 'a b', 'a\tb', 'a\nHost: 127.0.0.1', '\r\nHost: 127.0.0.1\r\n', '?a=\r\nb'],
    ...['\\..\\', '\u202egnp.exe', '#fragment', 'a'.repeat(3000), 'a'.repeat(2029), `?${'a='.repeat(2000)}`],
    // Within the length as written, beyond it once encoded.
    '"'.repeat(1000),
  ].map((rest) => `https://example.com/${rest}`),
  `https://${'a'.repeat(3000)}.com/`,
]

const withHost = (hosts: readonly string[]) => hosts.map((host) => `https://${host}/`)
const withPort = (hosts: readonly string[]) => hosts.map((host) => `https://${host}:8443/`)

/** By what is wrong with them. */
export const REJECTED: Readonly<Record<string, readonly string[]>> = {
  'the address of instance metadata': [...withHost(INSTANCE_METADATA), ...withPort(INSTANCE_METADATA)],
  'a loopback address': [...withHost(LOOPBACK), ...withPort(LOOPBACK)],
  'another IP address': withHost(OTHER_ADDRESSES),
  'a name that is not public, or not valid': withHost(NAMES),
  'user information': USERINFO,
  'another scheme, or none': SCHEMES,
  'another port': PORTS,
  'characters that are not plain, or too many': CHARACTERS,
}
