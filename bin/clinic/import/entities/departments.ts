import type { Department } from '../../../../shared/domain/booking/catalogue.ts'
import { departmentStore } from '../../../../shared/store/catalogue.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { catalogueName } from './catalogue-fields.ts'
import { catalogueImport } from './catalogue-rows.ts'
import { columnTable, defaulted, required } from './columns.ts'
import { definedFields, type ImportEntity, type RowFields } from './entity.ts'
import { booleanField } from './row-fields.ts'

type Fields = RowFields<Omit<Department, 'id'>> & Pick<Department, 'name'>

const columns = columnTable({
  name: required('name', catalogueName),
  is_active: defaulted('isActive', booleanField),
})

export const { valuesOf: departmentValues } = columns

export const departmentImport = (table: Table): ImportEntity<Fields> =>
  catalogueImport({
    name: 'departments',
    idKind: 'department',
    kind: 'department',
    columns,
    store: departmentStore({ table }),
    build: ({ id, fields }, before): Department => ({
      isActive: true,
      ...before,
      ...definedFields(fields),
      id,
      name: fields.name,
    }),
  })
