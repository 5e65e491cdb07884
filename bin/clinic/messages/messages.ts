import type { Command } from 'commander'
import { oneOf } from '../../../shared/api/schemas.ts'
import { Instant } from '../import/entities/row-fields.ts'
import { addResourceCommands } from '../records/resource-group.ts'
import { openClinic } from '../tool/connection.ts'
import { CommandFailure, counted, formatTable as lines, parseOption, print } from '../tool/output.ts'
import { describeProgress, messageJson } from './message-progress.ts'
import { messages } from './message-records.ts'
import { RESOLUTIONS, requireMessage, resolveMessage, resolveMessages } from './message-resolution.ts'

export function addMessageCommands(group: Command): void {
  addResourceCommands(group, messages)

  group
    .command('show')
    .description('show a message and its progress')
    .argument('<message>', 'message id')
    .option('--text', 'include subject and text', false)
    .action(async (id: string, given: { text: boolean }, command: Command) => {
      const { table, clinic } = await openClinic(command)
      const message = await requireMessage(table, clinic.id, id)
      const entry = messageJson(message, clinic, Date.now())
      const { subject, text } = message
      const { patient, dispatch: _, ...fields } = entry
      const named = {
        ...fields,
        progress: describeProgress(message, clinic, Date.now()),
        patient: `${patient.id} ${patient.full_name}`,
        ...(given.text && { subject }),
      }
      const rows = Object.entries(named).map(([name, value]) => [name, value ?? '-'])
      print(command, { ...entry, ...(given.text && { subject, message: text }) }, [
        ...lines(rows),
        ...(given.text ? ['', text] : []),
      ])
    })
  addResolveCommand(group)
}

type ResolveOptions = { as: string; before?: string }

function addResolveCommand(group: Command): void {
  group
    .command('resolve')
    .description('set the outcome of unresolved messages, as reported by the provider or the recipients')
    .argument('[message]', 'message id')
    .requiredOption('--as <status>', RESOLUTIONS.join(', '))
    .option('--before <time>', 'all that were accepted before it, e.g. 2026-05-01T10:00:00+03:00')
    .action(async (id: string | undefined, given: ResolveOptions, command: Command) => {
      if ((id === undefined) === (given.before === undefined))
        throw new CommandFailure('Specify either a message or --before.')
      const resolution = parseOption('as', oneOf(RESOLUTIONS), given.as)
      const before = given.before === undefined ? '' : parseOption('before', Instant, given.before)
      const { table, clinic } = await openClinic(command)
      if (id !== undefined) {
        const before = await requireMessage(table, clinic.id, id)
        const isChanged = before.dispatch !== null || before.status !== resolution
        const message = isChanged ? await resolveMessage(table, clinic, id, resolution, Date.now) : before
        print(command, messageJson(message, clinic, Date.now()), [
          isChanged
            ? `Message ${message.id} is ${message.status}`
            : `Nothing changed: message ${message.id} is ${message.status} already`,
        ])
        return
      }
      const { resolved, settled } = await resolveMessages(table, clinic, before, resolution, Date.now)
      const data = resolved.map((message) => messageJson(message, clinic, Date.now()))
      print(command, { data, settled_by_provider: settled }, [
        ...lines(data.map((message) => [message.id, message.status])),
        resolved.length === 0
          ? `Nothing changed: no unresolved message was accepted before ${given.before}`
          : `Resolved ${counted(resolved.length, 'message')}`,
        ...(settled > 0 ? [`Settled by the provider at the same time: ${settled}`] : []),
      ])
    })
}
