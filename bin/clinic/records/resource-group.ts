import type { Command } from 'commander'
import { fold } from '../../../shared/domain/patients/search-text.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import { print } from '../tool/output.ts'
import { addResourceFind } from './find-command.ts'
import { addListCommand } from './list-command.ts'
import { recordTable } from './record-text.ts'
import type { ResourceCommands } from './resource-commands.ts'
import { addShowCommand } from './show-command.ts'

/** Adds the commands of a resource to its group: `list`, `show` and `find`, with the filters of the API. */
export function addResourceCommands<Wire extends { readonly id: string }>(
  group: Command,
  resource: ResourceCommands<Wire>,
): void {
  const { list } = resource
  if (list) addListCommand(group.command('list'), `list a clinic's ${resource.plural}`, { ...resource, list })
  if (!resource.hasOwnShow) addShowCommand(group, resource)
  addResourceFind(group, resource)
}

/** A resource of which a clinic has few records, so that all are read at once. */
export type SmallResource<Wire> = Omit<ResourceCommands<Wire>, 'list' | 'show' | 'find'> &
  Partial<Pick<ResourceCommands<Wire>, 'show'>> & {
    readonly readAll: (context: ClinicContext) => Promise<readonly Wire[]>
    /** The texts of a record that the text of `find` can be a part of. */
    readonly textsOf: (record: Wire) => readonly (string | null)[]
  }

/** Adds `list`, `show` and `find` of a small resource to its group. */
export function addSmallResource<Wire extends { readonly id: string }>(
  group: Command,
  { readAll, textsOf, ...resource }: SmallResource<Wire>,
): void {
  group
    .command('list')
    .description(`list a clinic's ${resource.plural}`)
    .action(async (_: object, command: Command) => {
      const data = await readAll(await openClinic(command))
      print(command, { data }, recordTable(resource, data))
    })
  addResourceCommands(group, {
    show: async (context, id) => (await readAll(context)).find((record) => record.id === id) ?? null,
    ...resource,
    find: async (context, text) => {
      const isMatch = (value: string | null) => value !== null && fold(value).includes(fold(text))
      return { data: (await readAll(context)).filter((record) => textsOf(record).some(isMatch)) }
    },
  })
}
