/** Malicious names and subjects, sent with the real SES client to a local SES, and parsed with a MIME parser. */
import { SESv2Client } from '@aws-sdk/client-sesv2'
import { simpleParser } from 'mailparser'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EmailEngine, startEmailEngine } from '../../../../infra/local/engines/email.ts'
import { emailSender } from '../../../../shared/delivery/email/email.ts'
import { toSingleLine } from '../../../../shared/domain/messages/mail-header.ts'

const FROM = 'clinic@example.com'

let engine: EmailEngine

beforeAll(async () => {
  engine = await startEmailEngine()
})
afterAll(() => engine.stop())

const INJECTIONS = [
  'Hello\r\nBcc: thief@evil.example',
  'Hello\nBcc: thief@evil.example',
  'Hello\rBcc: thief@evil.example',
  'Hello\r\n\r\n<script>alert(1)</script>',
  'Hello\r\n Bcc: thief@evil.example',
  'Hello\n\tBcc: thief@evil.example',
  'Hello\u0085Bcc: thief@evil.example',
  'Hello\u2028Bcc: thief@evil.example',
  'Hello\u2029Bcc: thief@evil.example',
  'Hello\0Bcc: thief@evil.example',
  'Hello\x0bBcc: thief@evil.example',
  'Hello\x0cBcc: thief@evil.example',
  'Hello\x1b[31m',
  'Hello\x7f',
  '\r\nBcc: thief@evil.example',
  'Hello\r\nContent-Type: text/html\r\n\r\n<b>',
  'Hello\r\nX-SES-CONFIGURATION-SET: other',
  'Hello\r\nReply-To: thief@evil.example',
  'Hello %0d%0aBcc: thief@evil.example',
  'Hello \\r\\nBcc: thief@evil.example',
  '=?UTF-8?B?SGVsbG8NCkJjYzogdGhpZWZAZXZpbC5leGFtcGxl?=',
  '=?UTF-8?Q?Hello=0D=0ABcc:_thief@evil.example?=',
  '=?utf-7?Q?+AA0ACg-Bcc:?=',
  '"quoted" <thief@evil.example>',
  'a" <thief@evil.example>, "b',
  'a\\" <thief@evil.example>, "b',
  'Clinic, thief@evil.example',
  'Clinic; thief@evil.example',
  'group: thief@evil.example;',
  '<thief@evil.example>',
  '(comment) name',
  'name (comment) <thief@evil.example>',
  'thief@evil.example',
  'Praxis für Kinder & Jugend',
  'Клиника «Здоровье»',
  'İstanbul Kliniği',
  '診療所 东京',
  'عيادة \u202e.elbissop',
  '👩‍⚕️ Clinic 🏥',
  '\ud800 half',
  'é'.repeat(180),
  `${'x'.repeat(150)} ${'ß'.repeat(40)}`,
  'a'.repeat(200),
  '   spaces   around   ',
  "'; DROP TABLE messages; --",
]

/** The email that the recipient receives. */
async function received(facts: { fromName?: string; subject?: string }) {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  const client = new SESv2Client({
    endpoint: engine.inboxUrl,
    region: 'us-east-1',
    credentials,
    maxAttempts: 1,
  })
  const result = await emailSender(client, { from: FROM, configurationSet: 'mail' }).send({
    clinic: 'c',
    message: 'm',
    fromName: 'Clinic',
    replyTo: null,
    recipient: 'ada@example.com',
    subject: 'Your appointment',
    text: 'See you soon',
    waits: 0,
    ...facts,
  })
  if (result.kind !== 'accepted') throw new Error(`${result.kind}: ${result.reason}`)
  const eml = await fetch(`${engine.inboxUrl}get-emlContent?messageId=${result.providerMessageId}`)
  const { body } = (await eml.json()) as { body: { data: number[] } }
  return simpleParser(Buffer.from(body.data))
}

const EXPECTED = [
  'content-transfer-encoding',
  'content-type',
  'date',
  'from',
  'message-id',
  'mime-version',
  'subject',
  'to',
]

const addresses = (list: any): [string, string][] => list.value.map((one: any) => [one.name, one.address])

describe.each(INJECTIONS.map((text) => [JSON.stringify(text).slice(0, 60), text] as const))(
  '%s',
  (_, text) => {
    it('as a subject changes no other header', async () => {
      const mail = await received({ subject: text })
      expect([...mail.headers.keys()].sort()).toEqual(EXPECTED)
      expect(mail.subject?.replace(/\s+/g, ' ').trim()).toBe(toSingleLine(text).replace(/\s+/g, ' '))
      expect(addresses(mail.to)).toEqual([['', 'ada@example.com']])
      expect(mail.text?.trim()).toBe('See you soon')
    })

    it('as the clinic’s name changes only the sender’s name', async () => {
      const mail = await received({ fromName: text })
      expect([...mail.headers.keys()].sort()).toEqual(EXPECTED)
      const [[name, from] = ['', '']] = addresses(mail.from)
      expect(addresses(mail.from).length).toBe(1)
      expect(from).toBe(FROM)
      expect(name.replace(/\s+/g, ' ')).toBe(toSingleLine(text).replace(/\s+/g, ' '))
      expect(mail.cc ?? mail.bcc ?? mail.replyTo).toBeUndefined()
    })
  },
)
