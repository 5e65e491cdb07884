/** The table of docs/operate/commands.md, which `npm run openapi` writes. */
import type { Command } from 'commander'
import { markdownTable } from '../shared/openapi/markdown-table.ts'
import { COMMANDS } from '../shared/operator/commands.ts'
import { operatorTool } from './clinic/program.ts'
import { nameOf } from './clinic/tool/command-trail.ts'

/** The commands with their roles, by the name of the table in markdown. */
export async function commandTables(): Promise<Readonly<Record<string, string>>> {
  const program = await operatorTool({ env: {}, writeOut: () => {}, writeError: () => {} })
  const commands = visibleCommands(program).map((command) => {
    const name = nameOf(command)
    return [`\`${name}\``, COMMANDS[name]?.role ?? '', command.description()]
  })
  return { commands: markdownTable(['command', 'role', 'effect'], commands) }
}

/** The commands of a program without groups. */
export function visibleCommands(command: Command): Command[] {
  const visible = command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help')
  return visible.length === 0 ? [command] : visible.flatMap(visibleCommands)
}
