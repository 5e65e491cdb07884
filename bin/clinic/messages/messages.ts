import type { Command } from 'commander'
import { CalendarDate, oneOf } from '../../../shared/api/schemas.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { addDays, wallClock } from '../../../shared/domain/clock.ts'
import { CHANNELS, type Message } from '../../../shared/domain/messages/message.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { QUEUE_NAMES, QUEUES } from '../dead-letters/dead-letter-queues.ts'
import { redrive } from '../dead-letters/dead-letters.ts'
import { Instant } from '../import/entities/row-fields.ts'
import { eachRecord } from '../records/change-record.ts'
import { connect, connectQueues, openClinic, requireClinic } from '../tool/connection.ts'
import { CommandFailure, formatTable as lines, NeedsAttention, parseOption, print } from '../tool/output.ts'
import { describeProgress, messageJson } from './message-progress.ts'
import {
  RESOLUTIONS,
  requireMessage,
  resolveMessage,
  resolveMessages,
  unresolvedJson,
  unresolvedLines,
  unresolvedMessages,
} from './message-resolution.ts'

/** Length of the period without `--from`, in days. */
const DEFAULT_DAYS = 7

export function addMessageCommands(program: Command): void {
  const group = program
    .command('messages')
    .alias('message')
    .description('list, show and find messages, and resolve those whose outcome is unknown')

  group
    .command('unresolved')
    .description('list messages whose outcome is unknown')
    .option('--clinic <id>', 'clinic id (default: all clinics)')
    .action(async ({ clinic: id }: { clinic?: string }, command: Command) => {
      const table = await connect(command)
      const clinics =
        id === undefined ? await clinicStore({ table }).list() : [await requireClinic(table, id)]
      const data = (await unresolvedMessages(table, clinics, Date.now())).map(unresolvedJson)
      print(command, { data }, unresolvedLines(data))
    })

  group
    .command('failed')
    .description('list failed messages with their reasons, newest first')
    .requiredOption('--clinic <id>')
    .option('--from <date>', `YYYY-MM-DD (default: ${DEFAULT_DAYS} days up to --to)`)
    .option('--to <date>', 'YYYY-MM-DD (default: today)')
    .option('--channel <channel>', CHANNELS.join(', '))
    .action(async (given: FailedMessagesOptions & { clinic: string }, command: Command) => {
      const { table, clinic } = await openClinic(given, command)
      const data = (await failedMessages(table, clinic, given)).map((message) => ({
        id: message.id,
        channel: message.channel,
        accepted_at: clinicTimestamp(message.acceptedAt, clinic.timezone),
        reason: message.errorMessage,
      }))
      const rows = data.map(({ id, channel, accepted_at, reason }) => [
        id,
        channel,
        accepted_at,
        reason ?? '',
      ])
      print(command, { data }, lines(rows))
    })

  group
    .command('show')
    .description('show a message and its progress')
    .argument('<message>', 'message id')
    .requiredOption('--clinic <id>')
    .option('--text', 'include subject and text', false)
    .action(async (id: string, given: { clinic: string; text: boolean }, command: Command) => {
      const { table, clinic } = await openClinic(given, command)
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
  addRedriveCommand(group)
}

type ResolveOptions = { clinic: string; as: string; before?: string }

function addResolveCommand(group: Command): void {
  group
    .command('resolve')
    .description('set the outcome of unresolved messages, as reported by the provider or the recipients')
    .argument('[message]', 'message id')
    .requiredOption('--clinic <id>')
    .requiredOption('--as <status>', RESOLUTIONS.join(', '))
    .option('--before <time>', 'all that were accepted before it, e.g. 2026-05-01T10:00:00+03:00')
    .action(async (id: string | undefined, given: ResolveOptions, command: Command) => {
      if ((id === undefined) === (given.before === undefined))
        throw new CommandFailure('Specify either a message or --before.')
      const resolution = parseOption('as', oneOf(RESOLUTIONS), given.as)
      const before = given.before === undefined ? '' : parseOption('before', Instant, given.before)
      const { table, clinic } = await openClinic(given, command)
      if (id !== undefined) {
        const message = await resolveMessage(table, clinic, id, resolution, Date.now)
        const text = [`Message ${message.id} is ${message.status}`]
        print(command, messageJson(message, clinic, Date.now()), text)
        return
      }
      const { resolved, settled } = await resolveMessages(table, clinic, before, resolution, Date.now)
      const data = resolved.map((message) => messageJson(message, clinic, Date.now()))
      print(command, { data, settled_meanwhile: settled }, [
        ...lines(data.map((message) => [message.id, message.status])),
        resolved.length === 0 ? 'No unresolved messages' : `${resolved.length} messages are resolved`,
        ...(settled > 0 ? [`${settled} were settled in the meantime`] : []),
      ])
    })
}

function addRedriveCommand(group: Command): void {
  group
    .command('redrive')
    .description('move dead letters back to their queue, after their cause is fixed')
    .option('--queue <name>', `${QUEUE_NAMES.join(', ')} (default: all)`)
    .action(async ({ queue }: { queue?: string }, command: Command) => {
      const names = queue === undefined ? QUEUE_NAMES : [parseOption('queue', oneOf(QUEUE_NAMES), queue)]
      const { client, urlOf } = await connectQueues(command)
      const data = await Promise.all(
        names.map(async (name) => {
          const { queue, deadLetters } = QUEUES[name]
          const urls = { queue: urlOf(queue), deadLetters: urlOf(deadLetters) }
          return { queue: name, ...(await redrive(client, urls, Date.now)) }
        }),
      )
      const rows = data.map(({ queue, moved, left }) => [queue, `${moved} moved`, `${left} left`])
      print(command, { data }, lines(rows))
      if (data.some(({ left }) => left > 0)) throw new NeedsAttention()
    })
}

/** Unparsed options. Dates are in the clinic's time zone. */
type FailedMessagesOptions = { from?: string; to?: string; channel?: string }

/** The clinic's failed messages, newest first. */
async function failedMessages(
  table: Table,
  clinic: Clinic,
  options: FailedMessagesOptions,
): Promise<Message[]> {
  const failed: Message[] = []
  for await (const message of eachRecord(messageStore({ table }), clinic.id, filterOf(clinic, options)))
    if (message.status === 'failed') failed.push(message)
  return failed
}

function filterOf({ timezone }: Clinic, { from: first, to: last, channel }: FailedMessagesOptions) {
  const to = last === undefined ? wallClock(Date.now(), timezone).date : parseOption('to', CalendarDate, last)
  const from = first === undefined ? addDays(to, 1 - DEFAULT_DAYS) : parseOption('from', CalendarDate, first)
  if (from > to) throw new CommandFailure('--from must not be after --to')
  return {
    from,
    to,
    facets: channel === undefined ? undefined : [parseOption('channel', oneOf(CHANNELS), channel)],
  }
}
