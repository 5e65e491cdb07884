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
  ['Þóra Guðrún', 'thora gudrun'],
  ['Ħamrun, Ŧ Ŋ', 'hamrun t n'],
  ['Əliyev', 'aliyev'],
  ['O’Reilly O‘Reilly OʼReilly OʻReilly O`Reilly O´Reilly', Array(6).fill('oreilly').join(' ')],
  ['“Bob” „Bob“ «Bob» ד״ר', 'bob bob bob דר'],
  ['a\u2010b\u2011c\u2012d\u2013e\u2014f\u2212g－h־i', 'a-b-c-d-e-f-g-h-i'],
  ['a, b،c、d，e', 'a b c d e'],
  ['ジョン・スミス 阿·力 ｼﾞﾛｳ', 'ジョン スミス 阿 力 ジロウ'],
  ['a \t\u00a0\u3000b', 'a b'],
  ['a\u200cb\u200dc\u00add\u200be\u200ef\u202ag\ufeffh', 'abcdefgh'],
  ['葛\u{e0100}城 \ufe0fa', '葛城 a'],
  ['محمَّـــد', 'محمد'],
  ['کریمی علي موسى ٱلله فاطمة', 'كريمي علي موسي الله فاطمه'],
  ['שָׁלוֹם', 'שלום'],
  ['Йо́жик', 'ижик'.replace('и', 'ио')],
  ['٠١٢٣٤٥٦٧٨٩ ۰۹ ०९ ০৯ ๐๙ ０９ 𝟎𝟗 𝟿', '0123456789 09 09 09 09 09 09 9'],
  // Vowel signs, nuktas, tone marks and voiced marks are no accents.
  ['रीमा', 'रीमा'],
  ['फ़रहान', 'फ\u093cरहान'],
  ['กิ่ง', 'กิ่ง'],
  ['ガが\u304b\u3099', 'ガがが'],
  ['김민준', '김민준'],
])('fold folds %j to %j', (text, folded) => {
  expect(fold(text)).toBe(folded)
})

describe('a search', () => {
  it.each([
    ["O'Reilly", 'Ann O’Reilly'],
    ['oreilly', "Ann O'Reilly"],
    ['Kaya, Ada', 'Ada Kaya'],
    ['Kaya,Ada', 'Ada Kaya'],
    ['Jr.,King', 'Martin Luther King, Jr.'],
    ['Garcia-Lopez', 'Ana García\u2011López'],
    ['علیرضا', 'علی\u200cرضا'],
    ['كريمي', 'کریمی'],
    ['कृष्ण', 'कृष्\u200dण'],
    ['王小明', '小明 王'],
    ['王小明', '王小明'],
    ['小明 王', '王小明'],
    ['김민준', '민준 김'],
    ['やまだはなこ', 'はなこ やまだ'],
    ['スミスジョン', 'ジョン・スミス'],
    ['欧阳娜娜', '娜娜 欧阳'],
    ['𠮷田太郎', '太郎 𠮷田'],
    ['王小明', 'Xiaoming 小明 Wang 王'],
    ['王小', '小明 王'],
    ['ھما', 'هما'],
    ['ڪريم', 'کریم'],
    ['خانۀ', 'خانه'],
    ['ەمين', 'همين'],
    ['O\u02eeBrien', "O'Brien"],
    ['O\u2035Brien', 'O’Brien'],
  ])('for %j finds the name %j', (query, name) => {
    expect(finds(query, name)).toBe(true)
  })

  it.each([
    ['राम', 'रीमा'],
    ['กง', 'กิ่ง'],
    ['か', 'が'],
    ['이', '임'],
    ['王小明', '小红 王'],
    ['王小明', '王 小 明'],
    ['김민준', '준 김'],
    // Parts that occur, but not as names next to each other.
    ['田中', '花子 中田'],
    ['本山', '太郎 山本'],
    ['王王', '小明 王'],
    ['김정', '민정김 이'],
    // Of other scripts, only the whole word counts.
    ['kayaada', 'Ada Kaya'],
  ])('for %j does not find the name %j', (query, name) => {
    expect(finds(query, name)).toBe(false)
  })

  it('for a name written together looks in the name only', () => {
    expect(finds('王明', '王', null, '明@example.com')).toBe(false)
  })

  it.each([
    ['+90 532 123 45 67', '+905321234567'],
    ['0532 123 45 67', '+905321234567'],
    ['00905321234567', '+905321234567'],
    ['(0532) 123', '+905321234567'],
    ['4567', '+905321234567'],
    ['+49 (0)30 901820', '+4930901820'],
    ['0049 (0) 30', '+4930901820'],
    ['030/901820', '+4930901820'],
    ['(+49) (0)30 901820', '+4930901820'],
    ['(0049)(0)30', '+4930901820'],
    ['1 (415) 555', '+14155550100'],
    ['0100', '+14155550100'],
    ['\u202a+90 532 123 45 67\u202c', '+905321234567'],
    ['\u200e+90 532', '+905321234567'],
    ['0532–123–45–67', '+905321234567'],
    ['٠٥٣٢١٢٣', '+905321234567'],
    ['۰۵۳۲ ۱۲۳', '+905321234567'],
    ['०५३२', '+905321234567'],
    ['tel:+90-532-123-45-67', '+905321234567'],
    ['090ー1234ー5678', '+819012345678'],
    ['+81ー(0)90ー1234', '+819012345678'],
    [' TEL: 0532 123', '+905321234567'],
    ['tel:0532;phone-context=+90', '+905321234567'],
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

  it.each(['ada@xn--bcher-kva.example', 'XN--BCHER-KVA', 'ada@BÜCHER.example', 'bucher.example'])(
    'for %s finds an email address, whose domain is stored in Unicode',
    (query) => {
      expect(finds(query, 'Ada Kaya', null, 'Ada@bücher.example')).toBe(true)
    },
  )

  it('is null when it is blank, and matches no patient when it is a lone mark', () => {
    for (const blank of ['', ' ', '\t\u00a0\u3000']) expect(parseSearchQuery(blank)).toBeNull()
    for (const mark of ['´', '¨', '\u0301', "'", '’', ',', '\u200b', 'ـ'])
      expect(finds(mark, `Ada${mark} O'${mark} Kaya`, '+905321234567', 'a@x.org')).toBe(false)
  })
})

describe('a query built from a name', () => {
  /** Each list has spellings of one thing. */
  const SPELLINGS = [
    ['a', 'A', 'á', 'a\u0301', 'Ạ\u0302', 'ａ', 'ə'],
    ['th', 'þ', 'Þ'],
    ['d', 'ð', 'Đ'],
    ['ss', 'ß', 'ẞ'],
    ['σ', 'Σ', 'ς'],
    ['и', 'й', 'И\u0306'],
    ['ש', 'שׁ'],
    ['م', 'مَّ', 'م\u0640'],
    ['ك', 'ک', 'ﻙ', 'ڪ'],
    ['ه', 'ہ', 'ھ', 'ە', 'ۀ', 'ة', 'ۃ'],
    ['ي', 'ی', 'ى', 'ئ'],
    ['', "'", '’', 'ʼ', 'ʻ', 'ˮ', '‵', '`', '´', '׳', '"', '“'],
    ['', '\u200c', '\u200d', '\u00ad', '\u200b', '\u200e', '\u202a', '\ufe0f'],
    ['-', '\u2010', '\u2011', '–', '−', '־'],
    [' ', ', ', ',', '،', '\u00a0', '\u3000', '・', ' · '],
    ['7', '٧', '۷', '७', '７'],
    ['王', '王\u{e0100}'],
    ['が', 'か\u3099'],
    ['한', '\u1112\u1161\u11ab'],
    ['मी', 'म\u200dी'],
  ] as const
  const spelled = fc
    .constantFrom(...SPELLINGS)
    .chain((of) => fc.tuple(fc.constantFrom(...of), fc.constantFrom(...of)))

  it('finds it, however either is spelled', () => {
    fc.assert(
      fc.property(fc.array(spelled, { maxLength: 12 }), (pieces) => {
        const [name, query] = [0, 1].map((side) => `Bo${pieces.map((piece) => piece[side]).join('')}`)
        expect(finds(query as string, name as string)).toBe(true)
      }),
    )
  })

  it('finds it with the last name first, with a comma, or written together if its script is', () => {
    const oneOf = (letters: string) =>
      fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 4 })
    const names = (letters: string) => fc.tuple(oneOf(letters), oneOf(letters))
    fc.assert(
      fc.property(
        names('aéКимक\u093fगิ王김'),
        names('王小明𠮷々김민준かガー'),
        ([first, last], [given, family]) => {
          for (const query of [`${last}, ${first}`, `${last},${first}`, `${last}، ${first}`])
            expect(finds(query, `${first} ${last}`)).toBe(true)
          for (const query of [`${family}${given}`, `${given}${family}`])
            expect(finds(query, `${given} ${family}`)).toBe(true)
        },
      ),
    )
  })
})

it('folds text that is folded already to itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(fold(fold(text))).toBe(fold(text))
    }),
  )
})

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
])('parseSearchQuery parses %j', (query, needles) => {
  expect(parseSearchQuery(query)).toEqual(needles)
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
