import { describe, expect, it } from 'vitest'
import { fold, lineMatches, parseSearchQuery, searchLine } from '../../../shared/domain/search-text.ts'

const finds = (
  query: string,
  name: string,
  phone: string | null = null,
  email: string | null = null,
): boolean => {
  const needles = parseSearchQuery(query)
  if (!needles) throw new Error('the query looks for nothing')
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
  ])('%s is %s', (text, folded) => {
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
  ])('for %s finds %s', (query, phone) => {
    expect(finds(query, 'Ada Kaya', phone)).toBe(true)
  })

  it.each([
    ['0533', '+905321234567'],
    ['000', '+905321234567'],
    ['0012', '+905321234567'],
    ['4568', '+905321234567'],
  ])('for %s does not find %s', (query, phone) => {
    expect(finds(query, 'Ada Kaya', phone)).toBe(false)
  })

  it('for a number looks at the phone alone', () => {
    expect(finds('1990', 'Ada Kaya', '+905321234567', 'ada1990@x.org')).toBe(false)
    expect(finds('ada 1990', 'Ada Kaya', '+905321234567', 'ada1990@x.org')).toBe(true)
    expect(finds('19', 'Ada Kaya', null, 'ada1990@x.org')).toBe(true)
  })

  it('looks for nothing when it is blank, and for something nobody has when it is a lone mark', () => {
    for (const blank of ['', ' ', '\t\u00a0\u3000']) expect(parseSearchQuery(blank)).toBeNull()
    for (const mark of ['´', '¨', '\u0301'])
      expect(finds(mark, 'Ada´ Kaya', '+905321234567', 'a@x.org')).toBe(false)
  })
})
