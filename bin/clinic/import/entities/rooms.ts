import { departmentProblems, type Room } from '../../../../shared/domain/booking/catalogue.ts'
import { departmentStore, roomStore } from '../../../../shared/store/catalogue.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { catalogueName } from './catalogue-fields.ts'
import { catalogueImport } from './catalogue-rows.ts'
import { columnTable, defaulted, nullableReference, required } from './columns.ts'
import { definedFields, type ImportEntity, type RowFields } from './entity.ts'
import { booleanField } from './row-fields.ts'

type Fields = RowFields<Omit<Room, 'id'>> & Pick<Room, 'name'>

const columns = columnTable({
  name: required('name', catalogueName),
  department_external_id: nullableReference('departmentId', 'department'),
  is_active: defaulted('isActive', booleanField),
})

export const { valuesOf: roomValues } = columns

export const roomImport = (table: Table): ImportEntity<Fields> =>
  catalogueImport({
    name: 'rooms',
    idKind: 'room',
    kind: 'room',
    columns,
    store: roomStore({ table }),
    references: departmentStore({ table }),
    build: ({ id, fields }, before): Room => ({
      departmentId: null,
      isActive: true,
      ...before,
      ...definedFields(fields),
      id,
      name: fields.name,
    }),
    problems: (room, _, departments) => departmentProblems(room, departments),
    conflicting: { departmentId: 'department_external_id' },
  })
