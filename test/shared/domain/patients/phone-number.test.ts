import { describe, expect, it } from 'vitest'
import {
  countryOf,
  internationalNumber,
  isCostly,
  phoneNumber,
  validPhoneNumber,
} from '../../../../shared/domain/patients/phone-number.ts'

describe('validPhoneNumber', () => {
  it.each(['+905321234567', '+493012345678', '+12125550123'])('accepts %s', (number) => {
    expect(validPhoneNumber().parse(number)).toBe(number)
  })

  it.each([
    ['has no plus', '905321234567'],
    ['has punctuation', '+90 532 123 45 67'],
    ['is too short for its country', '+9053212345'],
    ['has a country code that does not exist', '+9995321234567'],
    ['keeps the 0 of its national form', '+4901711234567'],
    ['has an extension', '+493012345678;ext=5'],
    ['has no digits but zeros', '+49000000000'],
    ['is empty', ''],
  ])('rejects a number that %s', (_, number) => {
    expect(
      validPhoneNumber()
        .safeParse(number)
        .error?.issues.map(({ message }) => message),
    ).toEqual(['must be an international phone number that exists, such as +905321234567'])
  })

  it('rejects a value that is not text', () => {
    expect(validPhoneNumber().safeParse(905321234567).error?.issues[0]?.message).toBe('must be text')
  })
})

describe('phoneNumber', () => {
  const issues = (text: string) =>
    phoneNumber()
      .safeParse(text)
      .error?.issues.map(({ message }) => message)

  it.each([
    '+90 (532) 123-45-67',
    '+90.532.123/45/67',
    '+905321234567',
    ' +90\u00a0532 1234567 ',
    '+90 (0)532 123 45 67',
    '+90 0532 123 45 67',
  ])('removes the punctuation of %j', (text) => {
    expect(phoneNumber().parse(text)).toBe('+905321234567')
  })

  it.each([
    '+0532123456',
    '+90532x123456',
    '+90',
    '+90,5321234567',
    '+90 532 123 45 67 ext. 5',
    '+90 532 123 45 67, 5',
    '+49000000000',
    '+491011980',
    'call me',
    '',
  ])('rejects %j', (text) => {
    expect(issues(text)).toEqual(['must be an international phone number that exists, such as +905321234567'])
  })

  it.each(['0532 123 45 67', '0049 171 1234567', '(0171) 123-45-67', '0000000000', '01.01.1980'])(
    'asks for the country code of %s',
    (text) => {
      expect(issues(text)).toEqual(['needs its country code: +49 171 1234567, not 0171... or 0049...'])
    },
  )

  it('rejects a value that is not text', () => {
    expect(phoneNumber().safeParse(905321234567).error?.issues[0]?.message).toBe('must be text')
  })
})

describe('internationalNumber', () => {
  it.each([
    ['030 12345678', 'DE', '+493012345678'],
    ['(030) 1234-5678', 'DE', '+493012345678'],
    ['0049 30 12345678', 'DE', '+493012345678'],
    ['+90 532 123 45 67', 'DE', '+905321234567'],
    ['512 345 678', 'PL', '+48512345678'],
  ])('reads %s in %s', (text, country, number) => {
    expect(internationalNumber(text, country)).toBe(number)
  })

  it.each([
    '0000000000',
    '01.01.1980',
    '12345',
    '112',
    '030 12345678 ext 5',
    '030 12345678 DW 5',
    '030 12345678, 5',
    '030 12345678;ext=5',
    '',
  ])('does not read %j', (text) => {
    expect(internationalNumber(text, 'DE')).toBeNull()
  })
})

describe('countryOf', () => {
  it.each([
    ['+905321234567', 'TR'],
    ['+12125550123', 'US'],
    ['+14165550123', 'CA'],
  ])('returns the country of %s: %s', (number, country) => {
    expect(countryOf(number)).toBe(country)
  })

  it.each([
    ['of no country, as satellite phones have', '+881612345678'],
    ['with an unknown country code', '+9991234567'],
    ['that is not one', 'erased'],
  ])('returns null for a number %s', (_, number) => {
    expect(countryOf(number)).toBeNull()
  })
})

describe('isCostly', () => {
  it.each([
    ['a premium rate number', '+19002345678'],
    ['a shared cost number', '+491801234567'],
    ['a personal number', '+447012345678'],
    ['a company number', '+443001234567'],
    ['a pager', '+447600123456'],
    ['a voicemail number', '+41860461413226'],
  ])('is true for %s', (_, number) => {
    expect(isCostly(number)).toBe(true)
  })

  it.each([
    ['a mobile number', '+905321234567'],
    ['a landline number', '+493012345678'],
    ['a number of either kind', '+12125550123'],
    ['a number that is not one', 'erased'],
  ])('is false for %s', (_, number) => {
    expect(isCostly(number)).toBe(false)
  })
})
