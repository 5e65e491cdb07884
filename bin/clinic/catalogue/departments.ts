import type { Command } from 'commander'
import { renderDepartment } from '../../../shared/api/catalogue.ts'
import type { Department } from '../../../shared/domain/booking/catalogue.ts'
import { departmentStore } from '../../../shared/store/catalogue.ts'
import {
  activeAfter,
  addActivation,
  addCatalogueCommands,
  type CatalogueCommands,
} from './catalogue-commands.ts'

const COMMANDS: CatalogueCommands<
  Department,
  { readonly active?: boolean },
  ReturnType<typeof renderDepartment>
> = {
  kind: 'department',
  store: departmentStore,
  addOptions: addActivation,
  apply: (options, before, named) => ({ ...named, isActive: activeAfter(options, before) }),
  problems: async () => [],
  options: {},
  toJson: renderDepartment,
  cells: ({ is_active }) => [is_active ? 'active' : 'inactive'],
}

export const addDepartmentCommands = (group: Command): void => addCatalogueCommands(group, COMMANDS)
