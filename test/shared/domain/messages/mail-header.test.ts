import fc from 'fast-check'
import { simpleParser } from 'mailparser'
import { describe, expect, it } from 'vitest'
import { formatMailbox, formatSubject, toSingleLine } from '../../../../shared/domain/messages/mail-header.ts'
import { property } from '../../../support/scale.ts'

const ADDRESS = 'clinic@example.com'

/** Who a mail with this From header is from, and what else it says, as a reader of mail sees it. */
async function readBack(from: string) {
  const mail = await simpleParser(`From: ${from}\r\nSubject: Your appointment\r\n\r\nSee you at ten\r\n`)
  return {
    from: mail.from?.value.map(({ name, address }) => ({ name, address })),
    headers: [...mail.headers.keys()],
    subject: mail.subject,
    text: mail.text,
  }
}

/** A mail as it should be: one sender, no header more, and its own text. */
const fromOne = (name: string) => ({
  from: [{ name, address: ADDRESS }],
  headers: ['from', 'subject'],
  subject: 'Your appointment',
  text: 'See you at ten\n',
})

/** The text of encoded words, which are all that is in it, each of at most 75 characters and of whole ones. */
function decoded(header: string): string {
  const parts = header.split(' ').map((word) => {
    expect(word).toMatch(/^=\?UTF-8\?B\?[A-Za-z0-9+/]+=*\?=$/)
    expect(word.length).toBeLessThanOrEqual(75)
    const bytes = Buffer.from(word.slice('=?UTF-8?B?'.length, -'?='.length), 'base64')
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  })
  return parts.join('')
}

/** Names and subjects of what breaks headers, and of what else there is. */
const nasty = fc.constantFrom(
  '"',
  '\\',
  ',',
  ';',
  ':',
  '<',
  '>',
  '(',
  ')',
  '@',
  '=?',
  '?=',
  '=',
  '\r\n',
  '\n',
  '\r',
  '\t',
  '\0',
  '\u0085',
  '\u2028',
  '\u2029',
  '\ud800',
  '\udc00',
  'ä',
  'ş',
  '😀',
  '\u0301',
  '\u200d',
  '\ufeff',
  'Bcc: a@example.com',
  'evil@example.com',
  '=?UTF-8?B?ZXZpbA==?=',
  ' ',
  'Praxis',
)
const hostile = fc
  .array(fc.oneof(nasty, fc.string({ unit: 'binary', maxLength: 5 }), fc.string({ maxLength: 20 })), {
    maxLength: 20,
  })
  .map((pieces) => pieces.join(''))

it.each([
  ['plain text unchanged', 'Praxis Nord', 'Praxis Nord'],
  ['line ends as one space', 'a\r\nBcc: b@example.com', 'a Bcc: b@example.com'],
  ['Unicode line ends as spaces', 'a\u2028b\u2029c\u0085d\u000be\ff', 'a b c d e f'],
  ['NUL, DEL and tabs as spaces', 'a\0b\u007fc\td', 'a b c d'],
  ['trimmed text', ' \r\n a \u2028', 'a'],
  ['a replacement character for a lone surrogate', 'a\ud800b\udc00', 'a\ufffdb\ufffd'],
  ['an emoji unchanged', '😀', '😀'],
  ['empty text for line ends', '\r\n', ''],
])('toSingleLine returns %s', (_, text, expected) => {
  expect(toSingleLine(text)).toBe(expected)
})

describe('formatMailbox', () => {
  it.each([
    ['a plain name', 'Praxis Nord', `"Praxis Nord" <${ADDRESS}>`],
    ['quotes and backslashes', 'Dr. "Bo" \\ Lind', `"Dr. \\"Bo\\" \\\\ Lind" <${ADDRESS}>`],
    ['no name', '', ADDRESS],
    ['a name of line ends', '\r\n', ADDRESS],
    ['letters outside ASCII', 'Ärzte', `=?UTF-8?B?w4RyenRl?= <${ADDRESS}>`],
  ])('formats %s', (_, name, expected) => {
    expect(formatMailbox(name, ADDRESS)).toBe(expected)
  })

  it.each([
    'Praxis Nord',
    'Praxis" <evil@example.com>, "x',
    'Praxis\\" <evil@example.com>, \\"x',
    'Friends: a@example.com, b@example.com;',
    'Ärzte, "Nord" <evil@example.com>',
    '歯科クリニック',
    '🦷 Praxis 👨‍👩‍👧‍👦',
    'a\r\nBcc: evil@example.com',
    'half \ud83d a tooth',
    '=?UTF-8?B?ZXZpbA==?=',
    'ß'.repeat(200),
    `${'x'.repeat(44)}😀${'y'.repeat(44)}ä`,
  ])('is parsed as one sender with the name %j', async (name) => {
    expect(await readBack(formatMailbox(name, ADDRESS))).toEqual(fromOne(toSingleLine(name)))
  })

  it('is one line of ASCII with valid encoded words for any name', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const header = formatMailbox(text, ADDRESS)
        expect(header).toMatch(/^[\x20-\x7e]+$/)
        expect(header === ADDRESS || header.endsWith(` <${ADDRESS}>`)).toBe(true)
        if (header.startsWith('"') || header === ADDRESS) return
        expect(decoded(header.slice(0, -` <${ADDRESS}>`.length))).toBe(toSingleLine(text))
      }),
      property(500, 100_000),
    )
  })

  it('is parsed as one sender with the same name for any name', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        const { from, ...rest } = await readBack(formatMailbox(text, ADDRESS))
        expect({ from, ...rest }).toEqual(fromOne(toSingleLine(text)))
      }),
      property(300, 20_000),
    )
  })
})

describe('formatSubject', () => {
  it.each([
    ['a plain subject unchanged', 'Your appointment', 'Your appointment'],
    ['letters outside ASCII unchanged, since SES encodes them', 'Ihr Besuch für 10 €', 'Ihr Besuch für 10 €'],
    ['one line', 'Hello\r\nBcc: evil@example.com', 'Hello Bcc: evil@example.com'],
    ['an encoded word for text that looks like one', '=?', '=?UTF-8?B?PT8=?='],
  ])('returns %s', (_, text, expected) => {
    expect(formatSubject(text)).toBe(expected)
  })

  it('fills an encoded word with 45 bytes before it begins another', () => {
    const words = (text: string) => formatSubject(text).split(' ').length
    expect(words(`=?${'x'.repeat(43)}`)).toBe(1)
    expect(words(`=?${'x'.repeat(44)}`)).toBe(2)
  })

  it('decodes to the original line for any text', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const header = formatSubject(text)
        expect(header.includes('=?') ? decoded(header) : header).toBe(toSingleLine(text))
      }),
      property(500, 100_000),
    )
  })
})
