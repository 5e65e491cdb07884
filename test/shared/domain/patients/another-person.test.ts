import { describe, expect, it } from 'vitest'
import { isAnotherPerson } from '../../../../shared/domain/patients/another-person.ts'

const ada = { firstName: 'Ada', lastName: 'Kaya', dateOfBirth: '1984-03-12' }
const bo = { firstName: 'Bo', lastName: '', dateOfBirth: '1990-01-01' }

describe('isAnotherPerson', () => {
  it.each([
    ['no name and another date of birth', bo, true],
    ['the first name, written otherwise', { ...bo, firstName: 'ADA' }, false],
    ['the last name', { ...bo, lastName: 'Kaya' }, false],
    ['the date of birth', { ...bo, dateOfBirth: ada.dateOfBirth }, false],
    ['no name, and no date of birth', { ...bo, dateOfBirth: null }, null],
  ])('compares a person with %s', (_, other, expected) => {
    expect([isAnotherPerson(ada, other), isAnotherPerson(other, ada)]).toEqual([expected, expected])
  })

  it('takes no two missing last names for equal ones', () => {
    expect(isAnotherPerson({ ...ada, lastName: '' }, bo)).toBe(true)
  })
})
