import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import {
  emailAddress,
  externalId,
  multiLineText,
  personName,
  phoneNumber,
  singleLineText,
} from '../../../../shared/domain/patients/text-fields.ts'
import { HOSTILE_ADDRESSES } from '../../../support/hostile-addresses.ts'

/** The parsed value, or the messages of the issues. */
function parse(schema: z.ZodType, value: unknown): unknown {
  const { success, data, error } = schema.safeParse(value)
  return success ? { value: data } : error.issues.map(({ message }) => message)
}

const CONTROL = 'must not contain control characters or broken Unicode'

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
    ['a line break', 'a\nb', CONTROL],
    ['a tab', 'a\tb', CONTROL],
    ['NUL', 'a\u0000', CONTROL],
    ['DEL', 'a\u007f', CONTROL],
    ['a lone surrogate', 'a\ud83d', CONTROL],
    ['a lone surrogate without a visible character', '\ud83d', CONTROL],
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
        'must not contain directional overrides',
      ])
    },
  )

  it('rejects U+FFFD, which replaces bytes that are not UTF-8', () => {
    expect(parse(personName(), 'M\ufffdller')).toEqual([CONTROL])
  })
})

describe('multiLineText', () => {
  it.each(['', 'abcde', 'a\nb\tc', '\r\n', ' a ', '😀😀😀😀😀'])('accepts %j as it is', (text) => {
    expect(parse(multiLineText(5), text)).toEqual({ value: text })
  })

  it.each([
    ['a number', 12, 'must be text'],
    ['a text that is one character too long', 'a\nb\nc\n', 'must have at most 5 characters'],
    ['NUL', 'a\u0000', CONTROL],
    ['a vertical tab', 'a\u000b', CONTROL],
    ['a lone surrogate', 'a\ud83d', CONTROL],
    ['a character in place of invalid bytes', 'a\ufffd', CONTROL],
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
    'ö@bücher.example',
    "o'brien_{x}=1!#$%&*/?^`|~-@sub.example.com",
    '用户@例子.广告',
    'ada@xn--bcher-kva.example',
    'ada@1.example',
    `${'a'.repeat(64)}@example.com`,
    `ada@${'a'.repeat(63)}.example`,
  ])('accepts %s', (text) => {
    expect(parse(emailAddress(), text)).toEqual({ value: text })
  })

  it('accepts at most 254 characters', () => {
    const domain = '@example.com'
    const labels = `ada@${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.`
    const longest = labels + 'd'.repeat(254 - domain.length - labels.length) + domain.replace('@', '.')
    expect(parse(emailAddress(), longest)).toEqual({ value: longest })
    expect(parse(emailAddress(), `a${longest}`)).toEqual(['must have at most 254 characters'])
  })

  it.each(HOSTILE_ADDRESSES)('rejects %s', (text) => {
    expect(parse(emailAddress(), text)).toEqual(['must be an email address'])
  })

  it.each(['ada\u202e@example.com', 'ada@example.com\r\nBcc: b@example.com', 'ad\ufffd@example.com'])(
    'rejects %j as text already',
    (text) => {
      expect(parse(emailAddress(), text)).not.toHaveProperty('value')
    },
  )
})

describe('phoneNumber', () => {
  it.each(['+90 (532) 123-45-67', '+90.532.123/45/67', '+905321234567', ' +90\u00a0532 1234567 '])(
    'removes the punctuation of %j',
    (text) => {
      expect(parse(phoneNumber(), text)).toEqual({ value: '+905321234567' })
    },
  )

  it.each(['+0532123456', '+90532x123456', '+90', '+90,5321234567', 'call me'])('rejects %s', (text) => {
    expect(parse(phoneNumber(), text)).toEqual(['must be an international number such as +49 171 1234567'])
  })

  it.each(['0532 123 45 67', '0049 171 1234567', '(0171) 123-45-67'])(
    'asks for the country code of %s',
    (text) => {
      expect(parse(phoneNumber(), text)).toEqual([
        'needs its country code: +49 171 1234567, not 0171... or 0049...',
      ])
    },
  )
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
    ['a no-break space', 'a\u00a0b', INVISIBLE],
    ['a narrow no-break space', 'a\u202fb', INVISIBLE],
    ['a line separator', 'a\u2028b', INVISIBLE],
    ['a zero-width space', 'a\u200bb', INVISIBLE],
    ['a byte-order mark', 'a\ufeffb', INVISIBLE],
    ['a soft hyphen', 'a\u00adb', INVISIBLE],
    ['a variation selector', 'a\ufe0f', INVISIBLE],
    ['a directional override', 'a\u202eb', INVISIBLE],
    ['a Hangul filler', '\u3164', INVISIBLE],
    ['a blank Braille pattern', '\u2800', INVISIBLE],
    ['a character for private use', '\ue000', INVISIBLE],
    ['a tab', 'a\tb', CONTROL],
    ['NUL', 'a\u0000', CONTROL],
    ['a replacement character', 'Ay\ufffda', CONTROL],
    ['a lone surrogate', 'a\ud83d', CONTROL],
  ])('rejects %s', (_, value, message) => {
    expect(parse(externalId(), value)).toEqual([message])
  })
})
