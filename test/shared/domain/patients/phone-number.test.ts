import { describe, expect, it } from 'vitest'
import { countryOf, isCostly, validPhoneNumber } from '../../../../shared/domain/patients/phone-number.ts'

describe('validPhoneNumber', () => {
  it.each(['+905321234567', '+493012345678', '+12125550123'])('accepts %s', (number) => {
    expect(validPhoneNumber.parse(number)).toBe(number)
  })

  it.each([
    ['has no plus', '905321234567'],
    ['has punctuation', '+90 532 123 45 67'],
    ['is too short for its country', '+9053212345'],
    ['has a country code that does not exist', '+9995321234567'],
    ['is empty', ''],
  ])('rejects a number that %s', (_, number) => {
    expect(validPhoneNumber.safeParse(number).error?.issues.map(({ message }) => message)).toEqual([
      'must be an international phone number that exists, such as +905321234567',
    ])
  })

  it('rejects a value that is not text', () => {
    expect(validPhoneNumber.safeParse(905321234567).error?.issues[0]?.message).toBe('must be text')
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
