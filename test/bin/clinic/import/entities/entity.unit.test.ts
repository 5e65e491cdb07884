import { describe, expect, it } from 'vitest'
import { importEntities } from '../../../../../bin/clinic/import/entities/entities.ts'
import { definedFields, type RowFields } from '../../../../../bin/clinic/import/entities/entity.ts'
import { ENTITY_SCOPES } from '../../../../../shared/domain/webhooks/event.ts'
import type { Table } from '../../../../../shared/store/table/table.ts'
import { NOW } from '../../../../support/table.ts'

type Person = {
  readonly firstName: string
  readonly lastName: string
  readonly phoneNumber: string | null
  readonly emailAddress: string | null
}

const fields = {
  firstName: 'Ada',
  lastName: undefined,
  phoneNumber: null,
  emailAddress: undefined,
} satisfies RowFields<Person>

describe('definedFields', () => {
  it('drops fields that the row does not have and keeps those that it clears', () => {
    expect(definedFields(fields)).toStrictEqual({ firstName: 'Ada', phoneNumber: null })
  })
})

describe('a field that no column is read into', () => {
  it('does not compile', () => {
    // @ts-expect-error newField is neither read nor undefined
    fields satisfies RowFields<Person & { readonly newField?: string | null }>
    expect(fields).not.toHaveProperty('newField')
  })
})

it('every importable entity has the scope by which the event of its imports is shown', () => {
  const names = importEntities({} as Table, () => NOW).map(({ name }) => name)
  expect(names.filter((name) => ENTITY_SCOPES[name] === undefined)).toEqual([])
})
