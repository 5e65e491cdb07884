import { generateKeyPairSync, sign } from 'node:crypto'
import ipaddr from 'ipaddr.js'

/** A self-signed certificate, valid from `from` to `to` in days from now. Node has no API to create one. */
export function selfSigned({
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
