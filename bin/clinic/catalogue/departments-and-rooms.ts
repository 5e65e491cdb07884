import type { Command } from 'commander'
import { renderDepartment, renderRoom } from '../../../shared/api/catalogue.ts'
import { departmentStore, roomStore } from '../../../shared/store/catalogue.ts'
import { departmentChanges, roomChanges } from '../../../shared/store/catalogue-changes.ts'
import { idOrNone } from '../tool/output.ts'
import { type ActivationOptions, addActivation, addCatalogueCommands } from './catalogue-commands.ts'

type DepartmentOptions = ActivationOptions & { readonly name?: string }
type RoomOptions = DepartmentOptions & { readonly department?: string }

export const addDepartmentCommands = (group: Command): void =>
  addCatalogueCommands(group, {
    kind: 'department',
    store: departmentStore,
    changes: departmentChanges,
    addOptions: addActivation,
    values: ({ name, active }: DepartmentOptions) => ({ name, isActive: active }),
    options: {},
    toJson: renderDepartment,
    cells: ({ is_active }) => [is_active ? 'active' : 'inactive'],
  })

export const addRoomCommands = (group: Command): void =>
  addCatalogueCommands(group, {
    kind: 'room',
    store: roomStore,
    changes: roomChanges,
    addOptions: (command, use) =>
      addActivation(
        command.option(
          '--department <id>',
          use === 'create' ? 'department id' : 'department id; "" for none',
        ),
        use,
      ),
    values: ({ name, active, department }: RoomOptions) => ({
      name,
      isActive: active,
      departmentId: department === undefined ? undefined : idOrNone(department),
    }),
    options: { departmentId: 'department' },
    toJson: renderRoom,
    isNeededFor: (id, { room }) => room?.id === id,
    cells: ({ is_active, department_id }) => [is_active ? 'active' : 'inactive', department_id ?? ''],
  })
