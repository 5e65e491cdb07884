import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import {
  asciiAddress,
  emailAddress,
  externalId,
  languageTag,
  multiLineText,
  personName,
  singleLineText,
} from '../../../../shared/domain/patients/text-fields.ts'
import { HOSTILE_ADDRESSES } from '../../../support/hostile-addresses.ts'
import { property } from '../../../support/scale.ts'

/** The parsed value, or the messages of the issues. */
function parse(schema: z.ZodType, value: unknown): unknown {
  const { success, data, error } = schema.safeParse(value)
  return success ? { value: data } : error.issues.map(({ message }) => message)
}

const CONTROL = (code: string) => `must not contain control characters or broken Unicode: it has ${code}`

describe('singleLineText', () => {
  it.each([
    ['text of the maximum length', 'abcde', 'abcde'],
    ['a single character', 'a', 'a'],
    ['text without its outer white space', ' \t abcde \n', 'abcde'],
    ['inner spaces', 'a  b', 'a  b'],
    ['as many characters outside the basic plane', '😀😀😀😀😀', '😀😀😀😀😀'],
  ])('accepts %s', (_, text, value) => {
    expect(parse(singleLineText(5), text)).toEqual({ value })
  })

  it.each([
    ['a number', 12, 'must be text'],
    ['null', null, 'must be text'],
    ['an empty text', '', 'must not be empty'],
    ['white space', ' \n ', 'must not be empty'],
    ['a text that is one character too long', 'abcdef', 'must have at most 5 characters'],
    ['one emoji too many', '😀😀😀😀😀😀', 'must have at most 5 characters'],
    ['a text that is too long, for that reason only', 'abcde\u0000f', 'must have at most 5 characters'],
    ['a line break', 'a\nb', CONTROL('U+000A')],
    ['a tab', 'a\tb', CONTROL('U+0009')],
    ['NUL', 'a\u0000', CONTROL('U+0000')],
    ['DEL', 'a\u007f', CONTROL('U+007F')],
    ['a lone surrogate', 'a\ud83d', CONTROL('U+D83D')],
    ['a lone surrogate without a visible character', '\ud83d', CONTROL('U+D83D')],
  ])('rejects %s', (_, value, message) => {
    expect(parse(singleLineText(5), value)).toEqual([message])
  })
})

describe('a single line', () => {
  it.each([
    ['a zero-width space', '\u200b'],
    ['zero-width joiners', '\u200d\u200d'],
    ['a soft hyphen', '\u00ad'],
    ['a Hangul filler', '\u3164'],
    ['a half-width Hangul filler', '\uffa0'],
    ['a blank Braille pattern', '\u2800'],
    ['a lone combining mark', '\u0301'],
    ['a byte-order mark within spaces', ' \ufeff\u2060\ufeff '],
    ['a variation selector', '\ufe0f'],
    ['tags', '\u{e0041}'],
  ])('needs a visible character: rejects %s', (_, text) => {
    expect(parse(personName(), text)).toEqual([
      text.trim() === '' ? 'must not be empty' : 'must have a visible character',
    ])
  })

  it.each(['李', 'Ö', '-', '😀', 'ع', 'e\u0301', 'A\u200d', 'نوش\u200cآفرین', '\u200fשרה'])(
    'accepts %j, which has one',
    (text) => {
      expect(parse(personName(), text)).toEqual({ value: text })
    },
  )

  it.each([...'\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'])(
    'rejects %j, which changes the direction of other text',
    (character) => {
      expect(parse(singleLineText(50), `Ada ${character}ayaK`)).toEqual([
        `must not contain directional overrides: it has U+${character.charCodeAt(0).toString(16).toUpperCase()}`,
      ])
    },
  )

  it('rejects U+FFFD, which replaces bytes that are not UTF-8', () => {
    expect(parse(personName(), 'M\ufffdller')).toEqual([CONTROL('U+FFFD')])
  })
})

describe('multiLineText', () => {
  it.each(['', 'abcde', 'a\nb\tc', '\r\n', ' a ', '😀😀😀😀😀'])('accepts %j as it is', (text) => {
    expect(parse(multiLineText(5), text)).toEqual({ value: text })
  })

  it.each([
    ['a number', 12, 'must be text'],
    ['a text that is one character too long', 'a\nb\nc\n', 'must have at most 5 characters'],
    ['NUL', 'a\u0000', CONTROL('U+0000')],
    ['a vertical tab', 'a\u000b', CONTROL('U+000B')],
    ['a lone surrogate', 'a\ud83d', CONTROL('U+D83D')],
    ['a character in place of invalid bytes', 'a\ufffd', CONTROL('U+FFFD')],
  ])('rejects %s', (_, value, message) => {
    expect(parse(multiLineText(5), value)).toEqual([message])
  })
})

it('a name has at most 100 characters', () => {
  expect(parse(personName(), 'x'.repeat(100))).toEqual({ value: 'x'.repeat(100) })
  expect(parse(personName(), 'x'.repeat(101))).toEqual(['must have at most 100 characters'])
})

describe('emailAddress', () => {
  it.each([
    'a@b.co',
    'ada.kaya+x@mail.example.com',
    'Ada@bücher.example',
    "o'brien_{x}=1!#$%&*/?^`|~-@sub.example.com",
    'ada@例子.广告',
    'ada@1.example',
    'info@col·legi.example',
    'ada@ג׳ורג׳.example',
    'ada@ジョン・スミス.example',
    `${'a'.repeat(64)}@example.com`,
    `ada@${'a'.repeat(63)}.example`,
    // 63 characters in punycode.
    `ada@${'ü'.repeat(57)}.example`,
  ])('accepts %s', (text) => {
    expect(parse(emailAddress(), text)).toEqual({ value: text })
  })

  it.each([
    ['in punycode', 'ada@xn--bcher-kva.example', 'ada@bücher.example'],
    ['in punycode and capitals', 'ada@XN--BCHER-KVA.EXAMPLE', 'ada@bücher.example'],
    ['in capitals', 'Ada@BÜCHER.Example', 'Ada@bücher.example'],
    ['with a combining mark', 'ada@bu\u0308cher.example', 'ada@bücher.example'],
    ['in full-width letters', 'ada@ｅｘａｍｐｌｅ.com', 'ada@example.com'],
    ['with a sharp s', 'ada@STRAẞE.example', 'ada@straße.example'],
  ])('stores a domain %s in Unicode and lower case', (_, text, value) => {
    expect(parse(emailAddress(), text)).toEqual({ value })
  })

  it('accepts at most 254 characters', () => {
    const domain = '@example.com'
    const labels = `ada@${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.`
    const longest = labels + 'd'.repeat(254 - domain.length - labels.length) + domain.replace('@', '.')
    expect(parse(emailAddress(), longest)).toEqual({ value: longest })
    expect(parse(emailAddress(), `a${longest}`)).toEqual(['must have at most 254 characters'])
  })

  it('accepts at most 254 characters of its punycode form', () => {
    const withLocalPart = (length: number) => `${'a'.repeat(length)}@${`${'ü'.repeat(57)}.`.repeat(3)}example`
    expect(asciiAddress(withLocalPart(54))).toHaveLength(254)
    expect(parse(emailAddress(), withLocalPart(54))).toEqual({ value: withLocalPart(54) })
    expect(parse(emailAddress(), withLocalPart(55))).toEqual(['must be an email address'])
  })

  it.each(HOSTILE_ADDRESSES)('rejects %s', (text) => {
    expect(parse(emailAddress(), text)).toEqual([
      expect.stringMatching(/^must (be an email address|have only ASCII characters before the @)$/),
    ])
  })

  it.each(['ö@bücher.example', '用户@example.com', 'adа@example.com'])(
    'rejects the local part of %s',
    (text) => {
      expect(parse(emailAddress(), text)).toEqual(['must have only ASCII characters before the @'])
    },
  )

  it.each(['ada\u202e@example.com', 'ada@example.com\r\nBcc: b@example.com', 'ad\ufffd@example.com'])(
    'rejects %j as text already',
    (text) => {
      expect(parse(emailAddress(), text)).not.toHaveProperty('value')
    },
  )

  it('stores one form of each address, whose ASCII form is a host name that means the same', () => {
    const label = fc.oneof(
      fc.string({
        unit: fc.constantFrom(...'aZ9-üßẞİıς中のДא１½ⅷ™ﬁœ\u0301\u200d.'),
        minLength: 1,
        maxLength: 8,
      }),
      fc
        .string({ unit: fc.constantFrom(...'abcdez0129-'), minLength: 1, maxLength: 8 })
        .map((end) => `xn--${end}`),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }),
      fc.constantFrom('0x7f', '127', 'example'),
    )
    fc.assert(
      fc.property(fc.array(label, { minLength: 2, maxLength: 4 }), (labels) => {
        const { data: stored, success } = emailAddress().safeParse(`Ada@${labels.join('.')}`)
        if (!success) return
        const ascii = asciiAddress(stored)
        expect(ascii).toMatch(/^Ada@([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9-]{1,63}$/)
        expect(stored).toBe(stored.normalize('NFC'))
        expect(parse(emailAddress(), stored)).toEqual({ value: stored })
        expect(parse(emailAddress(), ascii)).toEqual({ value: stored })
        expect(parse(emailAddress(), ascii.toUpperCase().replace('ADA', 'Ada'))).toEqual({ value: stored })
      }),
      property(800, 200_000),
    )
  })
})

it.each([
  ['Ada@bücher.example', 'Ada@xn--bcher-kva.example'],
  ['ada@example.com', 'ada@example.com'],
  // Stored before domains were converted.
  ['ada@BÜCHER.example', 'ada@xn--bcher-kva.example'],
  ['ö@bücher.example', 'ö@xn--bcher-kva.example'],
])('asciiAddress writes the domain of %s in punycode', (address, ascii) => {
  expect(asciiAddress(address)).toBe(ascii)
})

describe('externalId', () => {
  it.each([
    ['a single character', '1', '1'],
    ['100 characters outside the basic plane', '𝒳'.repeat(100), '𝒳'.repeat(100)],
    ['single inner spaces, without outer white space', '\u00a0 Ç-1 (b) /2\t', 'Ç-1 (b) /2'],
    ['letters with combining marks', 'e\u0301', 'e\u0301'],
  ])('accepts %s', (_, text, value) => {
    expect(parse(externalId(), text)).toEqual({ value })
  })

  const INVISIBLE = 'must have 1 to 100 visible characters, with at most one space between two of them'

  it.each([
    ['a number', 12, 'must be text'],
    ['an empty text', '', INVISIBLE],
    ['white space', ' \u00a0 ', INVISIBLE],
    ['101 characters', 'x'.repeat(101), INVISIBLE],
    ['two inner spaces', 'a  b', INVISIBLE],
    ['a no-break space', 'a\u00a0b', `${INVISIBLE}: it has U+00A0`],
    ['a narrow no-break space', 'a\u202fb', `${INVISIBLE}: it has U+202F`],
    ['a line separator', 'a\u2028b', `${INVISIBLE}: it has U+2028`],
    ['a zero-width space', 'a\u200bb', `${INVISIBLE}: it has U+200B`],
    ['a byte-order mark', 'a\ufeffb', `${INVISIBLE}: it has U+FEFF`],
    ['a soft hyphen', 'a\u00adb', `${INVISIBLE}: it has U+00AD`],
    ['a variation selector', 'a\ufe0f', `${INVISIBLE}: it has U+FE0F`],
    ['a directional override', 'a\u202eb', `${INVISIBLE}: it has U+202E`],
    ['a Hangul filler', '\u3164', `${INVISIBLE}: it has U+3164`],
    ['a blank Braille pattern', '\u2800', `${INVISIBLE}: it has U+2800`],
    ['a character for private use', '\ue000', `${INVISIBLE}: it has U+E000`],
    ['a tab', 'a\tb', CONTROL('U+0009')],
    ['NUL', 'a\u0000', CONTROL('U+0000')],
    ['a replacement character', 'Ay\ufffda', CONTROL('U+FFFD')],
    ['a lone surrogate', 'a\ud83d', CONTROL('U+D83D')],
  ])('rejects %s', (_, value, message) => {
    expect(parse(externalId(), value)).toEqual([message])
  })
})

describe('languageTag', () => {
  it.each([
    ['de', 'de'],
    [' pt-br ', 'pt-BR'],
    ['ZH-HANT-tw', 'zh-Hant-TW'],
    ['es-419', 'es-419'],
    ['iw', 'he'],
    ['sh', 'sr-Latn'],
    ['de-CH-1996', 'de-CH-1996'],
    ['en-x-private', 'en-x-private'],
    ['de-x-aaaaaaaa-bbbbbbbb-cccccccc-dd', 'de-x-aaaaaaaa-bbbbbbbb-cccccccc-dd'],
  ])('accepts %j as %j', (text, value) => {
    expect(parse(languageTag(), text)).toEqual({ value })
  })

  const TAG = 'must be a language tag such as de, pt-BR or zh-Hant'
  it.each([
    ['the name of a language', 'german', TAG],
    ['an underscore', 'en_US', TAG],
    ['a single letter', 'e', TAG],
    ['a private tag', 'x-tr', TAG],
    ['a subtag of nine letters', 'en-abcdefghi', TAG],
    ['an empty subtag', 'en--US', TAG],
    ['a subtag that occurs twice', 'de-1996-1996', TAG],
    ['letters of another script', 'ｅｎ', TAG],
    ['a line break', 'de\n-DE', TAG],
    ['an empty text', '', TAG],
    ['a number', 1, 'must be text'],
    [
      '36 characters',
      `de-x-${'a'.repeat(8)}-${'b'.repeat(8)}-${'c'.repeat(8)}-dddd`,
      'must have at most 35 characters',
    ],
    [
      'a canonical spelling of 36 characters',
      'sh-x-aaaaaaaa-bbbbbbbb-cccccccc-d',
      'must have at most 35 characters',
    ],
  ])('rejects %s', (_, value, message) => {
    expect(parse(languageTag(), value)).toEqual([message])
  })

  it('accepts what it returns, unchanged', () => {
    const subtag = fc.stringMatching(/^[A-Za-z]{2,4}$|^[0-9]{3,5}$|^[a-z0-9]{1,8}$/)
    const tag = fc
      .tuple(fc.stringMatching(/^[A-Za-z]{2,3}$/), fc.array(subtag, { maxLength: 4 }))
      .map(([language, subtags]) => [language, ...subtags].join('-'))
    fc.assert(
      fc.property(tag, (text) => {
        const { data, success } = languageTag().safeParse(text)
        if (success) expect(parse(languageTag(), data)).toEqual({ value: data })
      }),
      property(500, 5000),
    )
  })
})
