import type { Command } from 'commander'
import { listMessages, messageFilter } from '../../../shared/api/messages.ts'
import { oneOf } from '../../../shared/api/schemas.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { Instant } from '../../../shared/sync/entities/row-fields.ts'
import { recordsOfPatients } from '../records/records-of-patients.ts'
import { addResourceCommands, type ResourceCommands } from '../records/resource-commands.ts'
import { openClinic } from '../tool/connection.ts'
import {
  CommandFailure,
  changeLine,
  counted,
  formatTable as lines,
  parseOption,
  print,
} from '../tool/output.ts'
import {
  describeProgress,
  messageJson,
  RESOLUTIONS,
  requireMessage,
  resolveMessage,
  resolveMessages,
  unresolvedJson,
  unresolvedLines,
  unresolvedMessages,
} from './message-resolution.ts'

const messageNow = (message: Parameters<typeof messageJson>[0], clinic: Clinic) =>
  messageJson(message, clinic, Date.now())

async function unresolvedOf(table: Table, clinics: readonly Clinic[]) {
  const data = (await unresolvedMessages(table, clinics, Date.now())).map(unresolvedJson)
  return { data, lines: unresolvedLines(data) }
}

const reading = recordsOfPatients(
  'message',
  messageStore,
  { query: listMessages.query, filterOf: messageFilter },
  messageNow,
)

/** Messages without their texts, which `message show --text` shows. */
const messages: ResourceCommands<ReturnType<typeof messageJson>> = {
  ...reading,
  list: {
    ...reading.list,
    part: {
      option: 'unresolved',
      description: 'those whose outcome is unknown, and why; without the other filters',
      read: ({ table, clinic }) => unresolvedOf(table, [clinic]),
      readAll: async (table) => unresolvedOf(table, (await clinicStore({ table }).listReadable()).clinics),
    },
  },
  hasOwnShow: true,
  cells: ({ created_at, channel, type, status, patient, error_message }) => [
    created_at,
    channel,
    type,
    status,
    patient.full_name,
    error_message ?? '',
  ],
}

export function addMessageCommands(group: Command): void {
  addResourceCommands(group, messages)

  group
    .command('show')
    .description('show a message and its progress')
    .argument('<message>', 'message id')
    .option('--text', 'include subject and text', false)
    .action(async (id: string, given: { text: boolean }, command: Command) => {
      const context = await openClinic(command)
      const { clinic } = context
      const message = await requireMessage(context, id)
      const entry = messageNow(message, clinic)
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
        const before = await requireMessage({ table, clinic }, id)
        const isChanged = before.dispatch !== null || before.status !== resolution
        const message = isChanged ? await resolveMessage(table, clinic, id, resolution, Date.now) : before
        const state = `${message.id} is ${message.status}`
        const line = changeLine(isChanged, `Message ${state}`, `message ${state} already`)
        return print(command, messageNow(message, clinic), [line])
      }
      const { resolved, settled } = await resolveMessages(table, clinic, before, resolution, Date.now)
      const data = resolved.map((message) => messageNow(message, clinic))
      print(command, { data, settled_by_provider: settled }, [
        ...lines(data.map((message) => [message.id, message.status])),
        changeLine(
          resolved.length > 0,
          `Resolved ${counted(resolved.length, 'message')}`,
          `no unresolved message was accepted before ${given.before}`,
        ),
        ...(settled > 0 ? [`Settled by the provider at the same time: ${settled}`] : []),
      ])
    })
}
