import { expect, it } from 'vitest'
import { OPERATIONS } from '../../../bin/clinic/api/operations.ts'
import { operatorTool } from '../../../bin/clinic/program.ts'
import { nameOf } from '../../../bin/clinic/tool/command-trail.ts'
import { visibleCommands } from '../../../bin/command-tables.ts'
import { COMMANDS, callsOf } from '../../../shared/operator/commands.ts'

/** Commands that call no service of AWS: those of the API document, and this one. */
const LOCAL = ['api']

it('every command that uses the stack has a role, and no other', async () => {
  const program = await operatorTool({ env: {}, writeOut: () => {}, writeError: () => {} })
  const names = visibleCommands(program).map((command) => nameOf(command))
  const listed = Object.keys(COMMANDS).filter((name) => !name.includes(' --'))
  const generated = OPERATIONS.map(({ noun, verb }) => `${noun} ${verb}`)
  expect([...new Set([...listed, ...LOCAL, ...generated])].sort()).toEqual(names.sort())
})

it('the help of all commands fits two screens', async () => {
  const program = await operatorTool({ env: {}, writeOut: () => {}, writeError: () => {} }, { words: [] })
  let help = ''
  program.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 80 }).outputHelp()
  expect(help.trim().split('\n').length).toBeLessThanOrEqual(52)
})

it('only the roles that change data may write, and only the role of restores may create tables', () => {
  expect(callsOf('read').table).toEqual(['BatchGetItem', 'GetItem', 'Query'])
  expect(callsOf('support').table).toContain('PutItem')
  for (const role of ['read', 'support', 'erase'] as const)
    expect(callsOf(role).table).not.toContain('RestoreTableToPointInTime')
  expect(callsOf('maintain').table).toContain('RestoreTableToPointInTime')
})
