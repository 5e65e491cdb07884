import type { Department, Room } from '../../domain/booking/catalogue.ts'
import { DEPARTMENT_RULES, ROOM_RULES } from '../../domain/catalogue/catalogue-rules.ts'
import { catalogueName } from '../../domain/patients/text-fields.ts'
import { departmentStore, roomStore } from '../../store/catalogue.ts'
import type { Table } from '../../store/table/table.ts'
import { catalogueImport } from './catalogue-rows.ts'
import { columnTable, defaulted, nullableReference, required } from './columns.ts'
import type { ImportEntity, RowFields } from './entity.ts'
import { booleanField } from './row-fields.ts'

type DepartmentFields = RowFields<Omit<Department, 'id'>> & Pick<Department, 'name'>
type RoomFields = RowFields<Omit<Room, 'id'>> & Pick<Room, 'name'>

const DEPARTMENT = {
  name: required('name', catalogueName()),
  is_active: defaulted('isActive', booleanField),
}
const departmentColumns = columnTable(DEPARTMENT)
const roomColumns = columnTable({
  name: DEPARTMENT.name,
  department_external_id: nullableReference('departmentId', 'department'),
  is_active: DEPARTMENT.is_active,
})

export const { cells: departmentCells, valuesOf: departmentValues } = departmentColumns
export const { cells: roomCells, valuesOf: roomValues } = roomColumns

export const departmentImport = (table: Table): ImportEntity<DepartmentFields> =>
  catalogueImport({
    name: 'departments',
    idKind: 'department',
    rules: DEPARTMENT_RULES,
    columns: departmentColumns,
    store: departmentStore({ table }),
  })

export const roomImport = (table: Table): ImportEntity<RoomFields> =>
  catalogueImport({
    name: 'rooms',
    idKind: 'room',
    rules: ROOM_RULES,
    columns: roomColumns,
    store: roomStore({ table }),
    references: departmentStore({ table }),
    conflicting: { departmentId: 'department_external_id' },
  })
