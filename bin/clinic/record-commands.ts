/** The commands `list`, `show` and `find` that the kinds of records have in common, with the filters of the API. */
import type { Command } from 'commander'
import { addFindCommand } from './find-command.ts'
import { addListCommand } from './list-command.ts'
import type { RecordKind } from './record-kind.ts'
import { addShowCommand } from './show-command.ts'

/** Adds the commands of a kind to its group. */
export function addRecordCommands<Wire extends { readonly id: string }>(
  program: Command,
  kind: RecordKind<Wire>,
): void {
  const group = program.commands.find((command) => command.name() === kind.group)
  if (!group) throw new RangeError(`the program has no group ${kind.group}`)
  const { list } = kind
  if (list) addListCommand(group.command('list'), `list a clinic's ${kind.plural}`, { ...kind, list })
  if (!kind.hasOwnShow) addShowCommand(group, kind)
  addFindCommand(group, kind)
}
