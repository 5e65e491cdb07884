import * as z from 'zod'
import { departmentProblems, type Room } from '../../../../shared/domain/booking/catalogue.ts'
import { departmentStore, roomStore } from '../../../../shared/store/catalogue.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { ColumnValues } from '../external-ids/overwrite-check.ts'
import { RecordRef } from '../external-ids/resolve-references.ts'
import { catalogueName } from './catalogue-fields.ts'
import { readIds, writeCatalogueRows } from './catalogue-rows.ts'
import { definedFields, type ImportEntity, type RowFields } from './entity.ts'
import { booleanField } from './row-fields.ts'

type Fields = RowFields<Omit<Room, 'id'>> & Pick<Room, 'name'>

const columns = {
  name: catalogueName,
  department_external_id: RecordRef.nullish(),
  is_active: booleanField.nullish(),
}

export function roomImport(table: Table): ImportEntity<Fields> {
  const store = roomStore({ table })
  const departments = departmentStore({ table })
  return {
    name: 'rooms',
    idKind: 'room',
    columns: Object.keys(columns),
    required: ['name'],
    schema: (_clinic, _now, idOf) =>
      z.strictObject(columns).transform(
        (row): Fields => ({
          name: row.name,
          departmentId: row.department_external_id && idOf('department', row.department_external_id),
          isActive: row.is_active ?? undefined,
        }),
      ),
    write: async (run, batch) => {
      const known = await readIds(departments, run.clinic)
      await writeCatalogueRows<Room, Fields>(
        {
          kind: 'room',
          store,
          build: ({ id, fields }, before) => ({
            departmentId: null,
            isActive: true,
            ...before,
            ...definedFields(fields),
            id,
            name: fields.name,
          }),
          valuesOf: roomValues,
          problems: (room) => departmentProblems(room, known),
          columns: { departmentId: 'department_external_id' },
        },
        run,
        batch,
      )
    },
  }
}

export const roomValues = ({ name, departmentId, isActive }: Room): ColumnValues => ({
  name,
  department_external_id: departmentId,
  is_active: isActive,
})
