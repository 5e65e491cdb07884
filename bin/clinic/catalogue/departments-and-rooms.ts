import type { Command } from 'commander'
import { renderDepartment, renderRoom } from '../../../shared/api/catalogue.ts'
import { type Department, departmentProblems, type Room } from '../../../shared/domain/booking/catalogue.ts'
import { departmentStore, roomStore } from '../../../shared/store/catalogue.ts'
import { readIds } from '../import/entities/catalogue-rows.ts'
import { idOrNone } from '../tool/output.ts'
import {
  type ActivationOptions,
  activeAfter,
  addActivation,
  addCatalogueCommands,
  type CatalogueCommands,
} from './catalogue-commands.ts'

type RoomOptions = ActivationOptions & { readonly department?: string }

const DEPARTMENTS: CatalogueCommands<Department, ActivationOptions, ReturnType<typeof renderDepartment>> = {
  kind: 'department',
  store: departmentStore,
  addOptions: addActivation,
  apply: (options, before, named) => ({ ...named, isActive: activeAfter(options, before) }),
  problems: async () => [],
  options: {},
  toJson: renderDepartment,
  cells: ({ is_active }) => [is_active ? 'active' : 'inactive'],
}

const ROOMS: CatalogueCommands<Room, RoomOptions, ReturnType<typeof renderRoom>> = {
  kind: 'room',
  store: roomStore,
  addOptions: (command, use) =>
    addActivation(
      command.option('--department <id>', use === 'create' ? 'department id' : 'department id; "" for none'),
      use,
    ),
  apply: ({ department, ...options }, before, named) => ({
    ...named,
    isActive: activeAfter(options, before),
    departmentId: department === undefined ? (before?.departmentId ?? null) : idOrNone(department),
  }),
  problems: async (room, _, { table, clinic }) =>
    departmentProblems(room, await readIds(departmentStore({ table }), clinic)),
  options: { departmentId: 'department' },
  toJson: renderRoom,
  isNeededFor: (id, { room }) => room?.id === id,
  cells: ({ is_active, department_id }) => [is_active ? 'active' : 'inactive', department_id ?? ''],
}

export const addDepartmentCommands = (group: Command): void => addCatalogueCommands(group, DEPARTMENTS)

export const addRoomCommands = (group: Command): void => addCatalogueCommands(group, ROOMS)
