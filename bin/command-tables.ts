/** The tables of docs/operate/commands.md, which `npm run openapi` writes. */
import type { Command } from 'commander'
import { markdownTable } from '../shared/openapi/markdown-table.ts'
import { COMMANDS } from '../shared/operator/commands.ts'
import { OPERATIONS } from './clinic/api/operations.ts'
import { operatorTool } from './clinic/program.ts'
import { nameOf } from './clinic/tool/command-trail.ts'

/** The commands with their roles, by the name of the table in markdown. */
export async function commandTables(): Promise<Readonly<Record<string, string>>> {
  const program = await operatorTool({ env: {}, writeOut: () => {}, writeError: () => {} })
  const operations = OPERATIONS.filter(({ noun, verb }) => !(`${noun} ${verb}` in COMMANDS))
  const generated = new Set(operations.map(({ noun, verb }) => `${noun} ${verb}`))
  const commands = visibleCommands(program).flatMap((command) => {
    const name = nameOf(command)
    return generated.has(name) ? [] : [[`\`${name}\``, COMMANDS[name]?.role ?? '', command.description()]]
  })
  const verbs = Object.entries(Object.groupBy(operations, ({ noun }) => noun)).map(([noun, list = []]) => [
    `\`${noun}\``,
    list.map(({ verb }) => `\`${verb}\``).join(', '),
  ])
  return {
    commands: markdownTable(['command', 'role', 'effect'], commands),
    operations: markdownTable(['noun', 'verbs'], verbs),
  }
}

/** The commands of a program without groups. */
export function visibleCommands(command: Command): Command[] {
  const visible = command.createHelp().visibleCommands(command)
  return visible.length === 0 ? [command] : visible.flatMap(visibleCommands)
}
