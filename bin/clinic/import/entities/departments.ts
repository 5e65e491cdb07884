import * as z from 'zod'
import type { Department } from '../../../../shared/domain/booking/catalogue.ts'
import { departmentStore } from '../../../../shared/store/catalogue.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { ColumnValues } from '../external-ids/overwrite-check.ts'
import { catalogueName } from './catalogue-fields.ts'
import { writeCatalogueRows } from './catalogue-rows.ts'
import { definedFields, type ImportEntity, type RowFields } from './entity.ts'
import { booleanField } from './row-fields.ts'

type Fields = RowFields<Omit<Department, 'id'>> & Pick<Department, 'name'>

const columns = { name: catalogueName, is_active: booleanField.nullish() }

export function departmentImport(table: Table): ImportEntity<Fields> {
  const store = departmentStore({ table })
  return {
    name: 'departments',
    idKind: 'department',
    columns: Object.keys(columns),
    required: ['name'],
    schema: () =>
      z
        .strictObject(columns)
        .transform((row): Fields => ({ name: row.name, isActive: row.is_active ?? undefined })),
    write: (run, batch) =>
      writeCatalogueRows<Department, Fields>(
        {
          kind: 'department',
          store,
          build: ({ id, fields }, before) => ({
            isActive: true,
            ...before,
            ...definedFields(fields),
            id,
            name: fields.name,
          }),
          valuesOf: departmentValues,
          problems: () => [],
          columns: {},
        },
        run,
        batch,
      ),
  }
}

export const departmentValues = ({ name, isActive }: Department): ColumnValues => ({
  name,
  is_active: isActive,
})
