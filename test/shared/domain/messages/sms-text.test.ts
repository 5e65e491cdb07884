import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { smsLength } from '../../../../shared/domain/messages/sms-text.ts'
import { property } from '../../../support/scale.ts'

/**
 * The default alphabet of 3GPP TS 23.038, section 6.2.1, by code point in the order of its table, a row of sixteen to
 * a line; 0x1B is the escape to the extension. Numbers, so that no literal is shared with the implementation.
 */
const TABLE: (number | null)[] = [
  [0x40, 0xa3, 0x24, 0xa5, 0xe8, 0xe9, 0xf9, 0xec, 0xf2, 0xc7, 0x0a, 0xd8, 0xf8, 0x0d, 0xc5, 0xe5],
  [0x394, 0x5f, 0x3a6, 0x393, 0x39b, 0x3a9, 0x3a0, 0x3a8, 0x3a3, 0x398, 0x39e, null, 0xc6, 0xe6, 0xdf, 0xc9],
  [0x20, 0x21, 0x22, 0x23, 0xa4, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f],
  [0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f],
  [0xa1, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f],
  [0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0xc4, 0xd6, 0xd1, 0xdc, 0xa7],
  [0xbf, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f],
  [0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0xe4, 0xf6, 0xf1, 0xfc, 0xe0],
].flat()

/** Its extension, section 6.2.1.1: form feed, caret, braces, backslash, brackets, tilde, bar, euro. */
const EXTENSION = [0x0c, 0x5e, 0x7b, 0x7d, 0x5c, 0x5b, 0x7e, 0x5d, 0x7c, 0x20ac]

/** The septets of each character according to the table; null if the alphabet lacks one. */
function septetsOf(text: string): number[][] | null {
  const characters: number[][] = []
  for (const character of text) {
    const point = character.codePointAt(0) as number
    const at = TABLE.indexOf(point)
    if (at >= 0) characters.push([at])
    else if (EXTENSION.includes(point)) characters.push([0x1b, EXTENSION.indexOf(point)])
    else return null
  }
  return characters
}

/** Fills segments of 153 septets as a phone network does: a character that does not fit begins the next segment. */
function segmentsOf(characters: readonly number[][]): number[][] {
  const segments: number[][] = [[]]
  for (const septets of characters) {
    if ((segments.at(-1) ?? []).length + septets.length > 153) segments.push([])
    segments.at(-1)?.push(...septets)
  }
  return segments
}

/** The length according to the table and the segments: all but the last one count as full. */
function slowLength(text: string): { alphabet: string; length: number } {
  const characters = septetsOf(text)
  if (!characters) return { alphabet: 'UTF-16', length: Buffer.from(text, 'utf16le').length / 2 }
  const segments = segmentsOf(characters)
  return { alphabet: 'GSM-7', length: 153 * (segments.length - 1) + (segments.at(-1) ?? []).length }
}

const character = (point: number): string => String.fromCodePoint(point)

describe('smsLength', () => {
  it('recognizes exactly the alphabet and extension of the standard among all characters', () => {
    const counts = { basic: 0, extension: 0 }
    for (let point = 0; point <= 0x2ffff; point++) {
      if (point >= 0xd800 && point <= 0xdfff) continue
      const { alphabet, length } = smsLength(character(point))
      if (alphabet !== 'GSM-7') continue
      counts[length === 1 ? 'basic' : 'extension'] += 1
      expect(TABLE.includes(point) || EXTENSION.includes(point)).toBe(true)
    }
    // 128 septets but the escape.
    expect(counts).toEqual({ basic: 127, extension: 10 })
  })

  it.each<[string, string, ReturnType<typeof smsLength>]>([
    ['nothing', '', { alphabet: 'GSM-7', length: 0, max: 1530 }],
    ['the longest in GSM-7', 'a'.repeat(1530), { alphabet: 'GSM-7', length: 1530, max: 1530 }],
    ['one more', 'a'.repeat(1531), { alphabet: 'GSM-7', length: 1531, max: 1530 }],
    // A segment of 153 septets has room for 76 escape pairs, and one septet stays unused.
    ['the most euros', '€'.repeat(760), { alphabet: 'GSM-7', length: 1529, max: 1530 }],
    ['one more euro', '€'.repeat(761), { alphabet: 'GSM-7', length: 1532, max: 1530 }],
    [
      'euros that fit exactly',
      `a${'€'.repeat(76)}`.repeat(10),
      { alphabet: 'GSM-7', length: 1530, max: 1530 },
    ],
    ['a pair that begins a segment', `${'a'.repeat(153)}€`, { alphabet: 'GSM-7', length: 155, max: 1530 }],
    ['a pair that would be split', `${'a'.repeat(152)}€`, { alphabet: 'GSM-7', length: 155, max: 1530 }],
    ['the longest in UTF-16', 'ж'.repeat(630), { alphabet: 'UTF-16', length: 630, max: 630 }],
    ['one more', 'ж'.repeat(631), { alphabet: 'UTF-16', length: 631, max: 630 }],
    ['emojis, two units each', '😀'.repeat(3), { alphabet: 'UTF-16', length: 6, max: 630 }],
    ['one outside at the end', `${'a'.repeat(700)}ş`, { alphabet: 'UTF-16', length: 701, max: 630 }],
    // One UTF-16 unit, although the extension takes two septets.
    ['an extension character in UTF-16', '€ж', { alphabet: 'UTF-16', length: 2, max: 630 }],
    ['an accent of its own', 'e\u0301', { alphabet: 'UTF-16', length: 2, max: 630 }],
    ['a tab', 'a\tb', { alphabet: 'UTF-16', length: 3, max: 630 }],
    ['a small ç, which the alphabet lacks', 'ç', { alphabet: 'UTF-16', length: 1, max: 630 }],
    ['a backquote', '`', { alphabet: 'UTF-16', length: 1, max: 630 }],
    ['the escape itself', '\u001b', { alphabet: 'UTF-16', length: 1, max: 630 }],
  ])('measures %s', (_, text, expected) => {
    expect(smsLength(text)).toEqual(expected)
  })

  it('measures any text as the table of the standard does', () => {
    const points = [...TABLE.filter((point) => point !== null), ...EXTENSION]
    const gsm = fc.constantFrom(...points).map(character)
    const any = fc.oneof(
      { weight: 20, arbitrary: gsm },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 2 }) },
    )
    fc.assert(
      fc.property(fc.array(any, { maxLength: 400 }), (pieces) => {
        const text = pieces.join('')
        const { alphabet, length, max: most } = smsLength(text)
        expect({ alphabet, length }).toEqual(slowLength(text))
        expect(most).toBe(alphabet === 'GSM-7' ? 1530 : 630)
      }),
      property(250, 50_000),
    )
  })

  it('accepts exactly the texts that a phone network sends in ten segments', () => {
    const pattern = fc.string({ unit: fc.constantFrom('a', '€'), minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(pattern, fc.integer({ min: 1515, max: 1535 }), (unit, septets) => {
        let text = ''
        for (let count = 0; count < septets; count += text.endsWith('€') ? 2 : 1)
          text += unit[text.length % unit.length]
        const { length, max } = smsLength(text)
        expect(length <= max).toBe(segmentsOf(septetsOf(text) ?? []).length <= 10)
      }),
      property(250, 50_000),
    )
  })
})
