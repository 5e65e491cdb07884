import type { Command } from 'commander'
import { renderDepartment } from '../../../shared/api/catalogue.ts'
import type { Department } from '../../../shared/domain/booking/catalogue.ts'
import { departmentStore } from '../../../shared/store/catalogue.ts'
import { addActivation, addCatalogueGroup, type CatalogueCommands } from './catalogue-commands.ts'

const COMMANDS: CatalogueCommands<Department, object> = {
  kind: 'department',
  store: departmentStore,
  addOptions: (command) => command,
  apply: (_, before, named) => ({ isActive: true, ...before, ...named }),
  problems: async () => [],
  options: {},
  toJson: renderDepartment,
  cells: ({ isActive }) => [isActive ? 'active' : 'inactive'],
}

export const addDepartmentCommands = (program: Command): void =>
  addActivation(addCatalogueGroup(program, COMMANDS), COMMANDS)
