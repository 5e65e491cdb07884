import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import ipaddr from 'ipaddr.js'

export type Question = { name: string; type: 'A' | 'AAAA' }
type DnsRecord = { owner: string; type: 'A' | 'AAAA' | 'CNAME'; data: Buffer }
export type Answers = readonly DnsRecord[] | 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' | 'silence'

const labels = (name: string): Buffer =>
  Buffer.concat([...name.split('.').map((label) => Buffer.from(`\0${label}`)), Buffer.from([0])].map(sized))

/** The first byte of a label is its length. */
const sized = (label: Buffer): Buffer => {
  if (label.length > 1) label[0] = label.length - 1
  return label
}

export const a = (owner: string, address: string): DnsRecord => ({
  owner,
  type: 'A',
  data: Buffer.from(ipaddr.parse(address).toByteArray()),
})
export const aaaa = (owner: string, address: string): DnsRecord => ({ ...a(owner, address), type: 'AAAA' })
export const cname = (owner: string, target: string): DnsRecord => ({
  owner,
  type: 'CNAME',
  data: labels(target),
})

const TYPES = { A: 1, CNAME: 5, AAAA: 28 }
const CODES = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 }

/** A local name server with answers that the test sets. Records have a TTL of 0. */
export function nameServer() {
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
  return {
    listen: async () => {
      socket.bind(0, '127.0.0.1')
      await once(socket, 'listening')
    },
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
