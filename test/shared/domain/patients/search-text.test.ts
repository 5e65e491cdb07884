import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  fold,
  lineMatches,
  MAX_LINE_BYTES,
  parseSearchQuery,
  phoneDigits,
  searchLine,
} from '../../../../shared/domain/patients/search-text.ts'

const finds = (
  query: string,
  name: string,
  phone: string | null = null,
  email: string | null = null,
): boolean => {
  const needles = parseSearchQuery(query)
  if (!needles) throw new Error('the query is empty')
  return lineMatches(searchLine(name, phone, email), needles)
}

describe('fold', () => {
  it.each([
    ['İSTANBUL', 'istanbul'],
    ['ISPARTA', 'isparta'],
    ['ıspanak', 'ispanak'],
    ['Großmann', 'grossmann'],
    ['GROẞMANN', 'grossmann'],
    ['Łukasz', 'lukasz'],
    ['Søren', 'soren'],
    ['Đặng', 'dang'],
    ['Ærø', 'aero'],
    ['Zoë', 'zoe'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['ﬁx', 'fix'],
    ['Ａｄａ', 'ada'],
    ['', ''],
    ['Ada ~ 1', 'ada ~ 1'],
    ['Œuvre', 'oeuvre'],
    ['e\u0301\u0323', 'e'],
    ['İ', 'i'],
    ['ØØ łł', 'oo ll'],
  ])('folds %j to %j', (text, folded) => {
    expect(fold(text)).toBe(folded)
  })
})

describe('a search', () => {
  it.each([
    ['+90 532 123 45 67', '+905321234567'],
    ['0532 123 45 67', '+905321234567'],
    ['00905321234567', '+905321234567'],
    ['(0532) 123', '+905321234567'],
    ['4567', '+905321234567'],
    ['+49 (0)30 901820', '+4930901820'],
    ['0049 (0) 30', '+4930901820'],
    ['030/901820', '+4930901820'],
    ['1 (415) 555', '+14155550100'],
    ['0100', '+14155550100'],
  ])('for %s finds the phone number %s', (query, phone) => {
    expect(finds(query, 'Ada Kaya', phone)).toBe(true)
  })

  it.each([
    ['0533', '+905321234567'],
    ['000', '+905321234567'],
    ['0012', '+905321234567'],
    ['4568', '+905321234567'],
  ])('for %s does not find the phone number %s', (query, phone) => {
    expect(finds(query, 'Ada Kaya', phone)).toBe(false)
  })

  it('for three or more digits searches phone numbers only', () => {
    expect(finds('1990', 'Ada Kaya', '+905321234567', 'ada1990@x.org')).toBe(false)
    expect(finds('ada 1990', 'Ada Kaya', '+905321234567', 'ada1990@x.org')).toBe(true)
    expect(finds('19', 'Ada Kaya', null, 'ada1990@x.org')).toBe(true)
  })

  it('is null when it is blank, and matches no patient when it is a lone mark', () => {
    for (const blank of ['', ' ', '\t\u00a0\u3000']) expect(parseSearchQuery(blank)).toBeNull()
    for (const mark of ['´', '¨', '\u0301'])
      expect(finds(mark, 'Ada´ Kaya', '+905321234567', 'a@x.org')).toBe(false)
  })
})

describe('parseSearchQuery', () => {
  it.each<[string, ReturnType<typeof parseSearchQuery>]>([
    ['  Ada   KAYA ', { kind: 'words', words: ['ada', 'kaya'] }],
    ['ada Ada', { kind: 'words', words: ['ada'] }],
    ['12', { kind: 'words', words: ['12'] }],
    ['1-2', { kind: 'words', words: ['1-2'] }],
    ['123', { kind: 'phone', digits: '123' }],
    ['1 2 3', { kind: 'phone', digits: '123' }],
    ['(1)/2.3-+', { kind: 'phone', digits: '123' }],
    ['123a', { kind: 'words', words: ['123a'] }],
    ['１２３', { kind: 'phone', digits: '123' }],
    ['0123', { kind: 'phone', digits: '123' }],
    ['00123', { kind: 'phone', digits: '123' }],
    ['000123', { kind: 'phone', digits: '0123' }],
    // Fewer than three digits would be left without the prefix.
    ['012', { kind: 'phone', digits: '012' }],
    ['0012', { kind: 'phone', digits: '0012' }],
    ['000', { kind: 'phone', digits: '000' }],
    ['+44 (0)20', { kind: 'phone', digits: '4420' }],
    ['+44(0)20', { kind: 'phone', digits: '4420' }],
    ['0044-(0)20', { kind: 'phone', digits: '4420' }],
    ['  +44 (0)20', { kind: 'phone', digits: '4420' }],
    ['44 (0)20', { kind: 'phone', digits: '44020' }],
    ['+44 (1)20', { kind: 'phone', digits: '44120' }],
    ['5 +44 (0)20', { kind: 'phone', digits: '544020' }],
    ['´', { kind: 'words', words: ['´'] }],
    [' ´ ', { kind: 'words', words: ['´'] }],
    ['\t', null],
  ])('parses %j', (query, needles) => {
    expect(parseSearchQuery(query)).toEqual(needles)
  })
})

describe('searchLine', () => {
  it('folds name and email, keeps the digits of the phone number, and separates them by tabs', () => {
    expect(searchLine('Ada KAYA', '+90 (532) 1', 'ADA@X.org')).toBe('ada kaya\t905321\tada@x.org')
    expect(searchLine('Ada', null, null)).toBe('ada\t\t')
  })

  it('replaces white space in a field by one space', () => {
    expect(searchLine('Ada\t\n Kaya', null, 'a\tb')).toBe('ada kaya\t\ta b')
  })
})

it('matches a phone number only in the phone field', () => {
  const digits = { kind: 'phone', digits: '123' } as const
  expect(lineMatches('123\t\t123', digits)).toBe(false)
  expect(lineMatches('ada\t90123\t', digits)).toBe(true)
  expect(lineMatches('ada\t9012\t3', digits)).toBe(false)
})

it('matches words only when all occur', () => {
  const line = searchLine('Ada Kaya', null, 'ada@x.org')
  expect(lineMatches(line, { kind: 'words', words: ['kaya', 'x.org'] })).toBe(true)
  expect(lineMatches(line, { kind: 'words', words: ['kaya', 'y.org'] })).toBe(false)
})

it('has no phone digits without a phone number', () => {
  expect(phoneDigits(null)).toBe('')
  expect(phoneDigits('+90 532')).toBe('90532')
})

describe('searchLine', () => {
  const bytes = (line: string) => Buffer.byteLength(line)

  it('has at most 460 bytes, in whole characters, whatever name and email are', () => {
    // Ligatures and emoji among others, which have several bytes or become several letters.
    const anyText = fc.string({
      unit: fc.oneof(fc.constantFrom('\u{fdfa}', '\u{1f600}', 'a'), fc.string()),
      maxLength: 254,
      size: 'max',
    })
    fc.assert(
      fc.property(anyText, anyText, (name, email) => {
        const line = searchLine(name, '+905321234567', email)
        expect(bytes(line)).toBeLessThanOrEqual(MAX_LINE_BYTES)
        expect(line.isWellFormed()).toBe(true)
        expect(line.split('\t')).toHaveLength(3)
      }),
    )
  })

  it('keeps the digits and the email whole, and cuts the end of the name', () => {
    const email = `${'e'.repeat(242)}@example.com`
    const line = searchLine(`${'\u{1f600}'.repeat(199)} End`, '+905321234567890', email)
    expect(line.endsWith(`\t905321234567890\t${email}`)).toBe(true)
    expect(line.startsWith('\u{1f600}'.repeat(47))).toBe(true)
    expect(bytes(line)).toBeGreaterThan(MAX_LINE_BYTES - 4)
    expect(bytes(line)).toBeLessThanOrEqual(MAX_LINE_BYTES)
  })

  it('holds two names of 100 ASCII characters and an email of 189 whole', () => {
    const name = `${'f'.repeat(100)} ${'l'.repeat(100)}`
    const email = `${'e'.repeat(177)}@example.com`
    expect(searchLine(name, '+905321234567', email)).toBe(`${name}\t905321234567\t${email}`)
  })
})
