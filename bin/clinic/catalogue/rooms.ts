import type { Command } from 'commander'
import { renderRoom } from '../../../shared/api/catalogue.ts'
import { departmentProblems, type Room } from '../../../shared/domain/booking/catalogue.ts'
import { departmentStore, roomStore } from '../../../shared/store/catalogue.ts'
import { readIds } from '../import/entities/catalogue-rows.ts'
import { idOrNone } from '../tool/output.ts'
import { addActivation, addCatalogueGroup, type CatalogueCommands } from './catalogue-commands.ts'

type Options = { readonly department?: string }

const COMMANDS: CatalogueCommands<Room, Options> = {
  kind: 'room',
  store: roomStore,
  addOptions: (command, use) =>
    command.option('--department <id>', use === 'add' ? 'department id' : 'department id; "" for none'),
  apply: ({ department }, before, named) => ({
    isActive: true,
    ...before,
    ...named,
    departmentId: department === undefined ? (before?.departmentId ?? null) : idOrNone(department),
  }),
  problems: async (room, _, { table, clinic }) =>
    departmentProblems(room, await readIds(departmentStore({ table }), clinic)),
  options: { departmentId: 'department' },
  toJson: renderRoom,
  isNeededFor: (id, { room }) => room?.id === id,
  cells: ({ isActive, departmentId }) => [isActive ? 'active' : 'inactive', departmentId ?? ''],
}

export const addRoomCommands = (program: Command): void =>
  addActivation(addCatalogueGroup(program, COMMANDS), COMMANDS)
