import { describe, expect, it } from 'vitest'
import { E164, fullName } from '../../../../shared/domain/patients/patient.ts'

it('a full name is the first name, a space and the last name', () => {
  expect(fullName({ firstName: 'Ada Nur', lastName: 'Kaya' })).toBe('Ada Nur Kaya')
})

it('a full name is the first name alone if there is no last name', () => {
  expect(fullName({ firstName: 'Suharto', lastName: '' })).toBe('Suharto')
})

describe('E164', () => {
  it.each(['+1234567', '+123456789012345', '+905321234567'])('accepts %s', (number) => {
    expect(E164.test(number)).toBe(true)
  })

  it.each([
    ['six digits', '+123456'],
    ['sixteen digits', '+1234567890123456'],
    ['a country code that begins with 0', '+0905321234567'],
    ['no plus', '905321234567'],
    ['text before it', 'x+905321234567'],
    ['text after it', '+905321234567x'],
    ['a letter', '+90532x234567'],
  ])('rejects a number with %s', (_, number) => {
    expect(E164.test(number)).toBe(false)
  })
})
