import { describe, expect, it } from 'vitest'
import { definedFields, type RowFields } from '../../../../bin/clinic/import/entity.ts'
import type { Patient } from '../../../../shared/domain/patient.ts'

const fields = {
  firstName: 'Ada',
  lastName: undefined,
  dateOfBirth: null,
  gender: undefined,
  phoneNumber: null,
  emailAddress: undefined,
  createdAt: undefined,
} satisfies RowFields<Omit<Patient, 'id'>>

describe('definedFields', () => {
  it('drops fields that the row does not have and keeps those that it empties', () => {
    expect(definedFields(fields)).toStrictEqual({ firstName: 'Ada', dateOfBirth: null, phoneNumber: null })
  })
})

describe('a field that no column is read into', () => {
  it('does not compile', () => {
    // @ts-expect-error newField is neither read nor undefined
    fields satisfies RowFields<Omit<Patient, 'id'> & { readonly newField?: string | null }>
    expect(fields).not.toHaveProperty('newField')
  })
})
