import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import {
  emailAddress,
  multiLineText,
  personName,
  phoneNumber,
  singleLineText,
} from '../../../shared/domain/text-fields.ts'

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
    ['a line break', 'a\nb', CONTROL],
    ['a tab', 'a\tb', CONTROL],
    ['NUL', 'a\u0000', CONTROL],
    ['DEL', 'a\u007f', CONTROL],
    ['a lone surrogate', 'a\ud83d', CONTROL],
  ])('rejects %s', (_, value, message) => {
    expect(parse(singleLineText(5), value)).toEqual([message])
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
  ])('rejects %s', (_, value, message) => {
    expect(parse(multiLineText(5), value)).toEqual([message])
  })
})

it('a name has at most 100 characters', () => {
  expect(parse(personName, 'x'.repeat(100))).toEqual({ value: 'x'.repeat(100) })
  expect(parse(personName, 'x'.repeat(101))).toEqual(['must have at most 100 characters'])
})

describe('emailAddress', () => {
  it.each(['a@b.co', 'ada.kaya+x@mail.example.com', 'ö@bücher.example'])('accepts %s', (text) => {
    expect(parse(emailAddress, text)).toEqual({ value: text })
  })

  it('accepts at most 254 characters', () => {
    const domain = '@example.com'
    expect(parse(emailAddress, 'a'.repeat(254 - domain.length) + domain)).toHaveProperty('value')
    expect(parse(emailAddress, 'a'.repeat(255 - domain.length) + domain)).toEqual([
      'must have at most 254 characters',
    ])
  })

  it.each([
    'ada',
    'ada@',
    '@example.com',
    'ada@example',
    'ada@example.',
    'ada@.com',
    'ada@example..com',
    'ada@@example.com',
    'ada@exam@ple.com',
    'ada@example.co@m',
    'ada kaya@example.com',
    'ada @example.com',
    'ada@exam ple.com',
    'ada@example.co m',
    'x ada@example.com',
    'ada@example.com x',
    '<ada@example.com>, b@example.com',
  ])('rejects %s', (text) => {
    expect(parse(emailAddress, text)).toEqual(['must be an email address'])
  })
})

describe('phoneNumber', () => {
  it.each(['+90 (532) 123-45-67', '+90.532.123/45/67', '+905321234567', ' +90\u00a0532 1234567 '])(
    'removes the punctuation of %j',
    (text) => {
      expect(parse(phoneNumber, text)).toEqual({ value: '+905321234567' })
    },
  )

  it.each(['0532 123 45 67', '+0532123456', '+90532x123456', '+90', '+90,5321234567'])(
    'rejects %s',
    (text) => {
      expect(parse(phoneNumber, text)).toEqual(['must be an international number such as +905321234567'])
    },
  )
})
