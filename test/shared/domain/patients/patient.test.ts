import { describe, expect, it } from 'vitest'
import { eraseFields } from '../../../../shared/domain/field-policy.ts'
import {
  E164,
  ERASED_FULL_NAME,
  fullName,
  GENDERS,
  NO_DETAILS,
  PATIENT_FIELDS,
  type Patient,
} from '../../../../shared/domain/patients/patient.ts'
import { silentFields } from '../../../support/field-policies.ts'

it('a full name is the first name, a space and the last name', () => {
  expect(fullName({ firstName: 'Ada Nur', lastName: 'Kaya' })).toBe('Ada Nur Kaya')
})

it('a full name is the first name alone if there is no last name', () => {
  expect(fullName({ firstName: 'Suharto', lastName: '' })).toBe('Suharto')
})

it('has four genders', () => {
  expect(GENDERS).toEqual(['male', 'female', 'other', 'unknown'])
})

it('NO_DETAILS is null for each optional field of an active patient', () => {
  expect(NO_DETAILS).toEqual({
    isActive: true,
    nationalId: null,
    notes: null,
    externalId: null,
    dateOfBirth: null,
    gender: null,
    phoneNumber: null,
    emailAddress: null,
    erasedAt: null,
  })
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

describe('PATIENT_FIELDS', () => {
  const patient: Patient = {
    id: 'p1',
    firstName: 'Ada',
    lastName: 'Kaya',
    dateOfBirth: '1980-01-02',
    gender: 'female',
    phoneNumber: '+905321234567',
    emailAddress: 'ada@example.com',
    isActive: false,
    nationalId: 'AB-12',
    notes: 'Left-handed',
    externalId: 'P-1',
    createdAt: '2026-05-01T07:00:00.000Z',
    erasedAt: null,
  }

  it('replaces all personal data on erasure', () => {
    const erased = eraseFields(patient, PATIENT_FIELDS)
    expect(erased).toEqual({
      id: 'p1',
      firstName: 'Erased',
      lastName: 'Patient',
      dateOfBirth: null,
      gender: null,
      phoneNumber: null,
      emailAddress: null,
      isActive: false,
      nationalId: null,
      notes: null,
      externalId: null,
      createdAt: '2026-05-01T07:00:00.000Z',
      erasedAt: null,
    })
    expect(fullName(erased)).toBe(ERASED_FULL_NAME)
  })

  it('makes an event for a change of any field but the time of creation', () => {
    expect(silentFields(PATIENT_FIELDS)).toEqual(['createdAt'])
  })
})
