import type { Patient } from './patient.ts'
import { fold } from './search-text.ts'

type Person = Pick<Patient, 'firstName' | 'lastName' | 'dateOfBirth'>

const hasSameName = (one: Person, other: Person): boolean =>
  (['firstName', 'lastName'] as const).some(
    (name) => fold(one[name]) !== '' && fold(one[name]) === fold(other[name]),
  )

/**
 * Whether two descriptions of a patient are of different people: no name is equal, nor is the date of birth. Null if that is unknown,
 * as one of them has no date of birth.
 */
export function isAnotherPerson(one: Person, other: Person): boolean | null {
  if (hasSameName(one, other) || one.dateOfBirth === other.dateOfBirth) return false
  return one.dateOfBirth !== null && other.dateOfBirth !== null ? true : null
}
