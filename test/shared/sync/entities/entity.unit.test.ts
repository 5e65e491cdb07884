import { expect, it } from 'vitest'
import type { ClinicInfo } from '../../../../shared/domain/clinic.ts'
import { ENTITY_SCOPES } from '../../../../shared/domain/webhooks/event.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { importEntities } from '../../../../shared/sync/entities/entities.ts'
import { definedFields, type RowFields } from '../../../../shared/sync/entities/entity.ts'
import { NOW } from '../../../support/table.ts'

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

it('definedFields drops fields that the row does not have and keeps those that it clears', () => {
  expect(definedFields(fields)).toStrictEqual({ firstName: 'Ada', phoneNumber: null })
})

it('a field that no column is read into does not compile', () => {
  // @ts-expect-error newField is neither read nor undefined
  fields satisfies RowFields<Person & { readonly newField?: string | null }>
  expect(fields).not.toHaveProperty('newField')
})

it('every importable entity has the scope by which the event of its imports is shown', () => {
  const names = importEntities({} as Table, () => NOW).map(({ name }) => name)
  expect(names.filter((name) => ENTITY_SCOPES[name] === undefined)).toEqual([])
})

const clinic = { timezone: 'Europe/Berlin' } as ClinicInfo
const references = importEntities({} as Table, () => NOW).flatMap(({ name: entity, columns, schema }) => {
  const parse = (row: object) => schema(clinic, NOW, (_, ref) => String(ref)).safeParse(row)
  return [
    ...columns
      .filter((name) => /external_ids?$/.test(name))
      .map((name) => ({ entity, name, parse: (id: string) => parse({ [name]: id }) })),
    ...(entity === 'price-lists'
      ? [
          {
            entity,
            name: 'items',
            parse: (id: string) => parse({ items: [{ treatment_external_id: id, price: '1' }] }),
          },
        ]
      : []),
  ]
})

it.each(references)(
  'references by external ids follow the rule of external ids in $name of $entity',
  ({ name, parse }) => {
    const issuesOf = (id: string) =>
      (parse(id).error?.issues ?? []).filter(({ path }) => path[0] === name).map(({ message }) => message)
    expect(issuesOf('Ç 1')).toEqual([])
    for (const id of ['a\u00a0b', 'a\u200bb', 'a  b', 'x'.repeat(101)])
      expect(issuesOf(id)).toEqual([expect.stringContaining('must have 1 to 100 visible characters')])
    expect(issuesOf('a\ufffdb')).toEqual([expect.stringContaining('broken Unicode')])
  },
)
