import type { Command } from 'commander'
import { oneOf } from '../../../shared/api/schemas.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { Instant } from '../../../shared/sync/entities/row-fields.ts'
import { connect, openClinic } from '../tool/connection.ts'
import { CommandFailure, changeLine, counted, formatTable, parseOption, print } from '../tool/output.ts'
import {
  messageJson,
  RESOLUTIONS,
  requireMessage,
  resolveMessage,
  resolveMessages,
  unresolvedJson,
  unresolvedLines,
  unresolvedMessages,
} from './message-resolution.ts'

export function addMessageCommands(group: Command): void {
  group
    .command('unresolved')
    .description('list the messages of all clinics whose outcome is unknown, and why')
    .action(async (_: object, command: Command) => {
      const table = await connect(command)
      const { clinics } = await clinicStore({ table }).listReadable()
      const data = (await unresolvedMessages(table, clinics, Date.now())).map(unresolvedJson)
      print(command, { data }, unresolvedLines(data))
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
        const before = await requireMessage({ table, clinic }, id)
        const isChanged = before.dispatch !== null || before.status !== resolution
        const message = isChanged ? await resolveMessage(table, clinic, id, resolution, Date.now) : before
        const state = `${message.id} is ${message.status}`
        const line = changeLine(isChanged, `Message ${state}`, `message ${state} already`)
        return print(command, messageJson(message, clinic), [line])
      }
      const { resolved, settled } = await resolveMessages(table, clinic, before, resolution, Date.now)
      const data = resolved.map((message) => messageJson(message, clinic))
      print(command, { data, settled_by_provider: settled }, [
        ...formatTable(data.map((message) => [message.id, message.status])),
        changeLine(
          resolved.length > 0,
          `Resolved ${counted(resolved.length, 'message')}`,
          `no unresolved message was accepted before ${given.before}`,
        ),
        ...(settled > 0 ? [`Settled by the provider at the same time: ${settled}`] : []),
      ])
    })
}
