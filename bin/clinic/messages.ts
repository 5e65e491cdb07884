import type { Command } from 'commander'
import { oneOf } from '../../shared/api/schemas.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { CHANNELS, type Message } from '../../shared/domain/message.ts'
import { clinicTimestamp } from '../../shared/domain/timestamp.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { connect, connectQueues, requireClinic } from './connection.ts'
import { QUEUE_NAMES, QUEUES } from './dead-letter-queues.ts'
import { redrive } from './dead-letters.ts'
import { DEFAULT_DAYS, type FailedMessagesOptions, failedMessages } from './message-failures.ts'
import { describeProgress, localTime, messageJson } from './message-progress.ts'
import {
  claimEnd,
  RESOLUTIONS,
  requireMessage,
  resolveMessage,
  unresolvedMessages,
} from './message-resolution.ts'
import { formatTable as lines, NeedsAttention, parseOption, print } from './output.ts'

export function addMessageCommands(program: Command): void {
  const group = program
    .command('messages')
    .alias('message')
    .description('inspect and resolve messages that did not reach their recipients')

  group
    .command('unresolved')
    .description('list messages whose outcome is unknown')
    .option('--clinic <id>', 'clinic id (default: all clinics)')
    .action(async ({ clinic: id }: { clinic?: string }, command: Command) => {
      const table = await connect(command)
      const clinics =
        id === undefined ? await clinicStore({ table }).list() : [await requireClinic(table, id)]
      const data = (await unresolvedMessages(table, clinics, Date.now())).map(unresolvedJson)
      const rows = data.map(({ clinic_id, id, channel, accepted_at, claimed_until, reason }) => [
        clinic_id,
        id,
        channel,
        `accepted ${accepted_at}`,
        `claimed until ${claimed_until}`,
        reason,
      ])
      print(command, { data }, rows.length > 0 ? lines(rows) : ['No messages are unresolved.'])
    })

  group
    .command('resolve')
    .description('set the outcome of an unresolved message, as reported by the provider or the recipient')
    .argument('<message>', 'message id')
    .requiredOption('--clinic <id>')
    .requiredOption('--as <status>', RESOLUTIONS.join(', '))
    .action(async (id: string, given: { clinic: string; as: string }, command: Command) => {
      const resolution = parseOption('as', oneOf(RESOLUTIONS), given.as)
      const table = await connect(command)
      const clinic = await requireClinic(table, given.clinic)
      const message = await resolveMessage(table, clinic, id, resolution, Date.now)
      print(command, messageJson(message, clinic, Date.now()), [`Message ${message.id} is ${message.status}`])
    })

  group
    .command('failed')
    .description('list failed messages with their reasons, newest first')
    .requiredOption('--clinic <id>')
    .option('--from <date>', `YYYY-MM-DD (default: ${DEFAULT_DAYS} days up to --to)`)
    .option('--to <date>', 'YYYY-MM-DD (default: today)')
    .option('--channel <channel>', CHANNELS.join(', '))
    .action(async (given: FailedMessagesOptions & { clinic: string }, command: Command) => {
      const table = await connect(command)
      const clinic = await requireClinic(table, given.clinic)
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
      const table = await connect(command)
      const clinic = await requireClinic(table, given.clinic)
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
  addRedriveCommand(group)
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

const unresolvedJson = ({ clinic, message }: { clinic: Clinic; message: Message }) => ({
  clinic_id: clinic.id,
  id: message.id,
  channel: message.channel,
  accepted_at: clinicTimestamp(message.acceptedAt, clinic.timezone),
  claimed_until: localTime(claimEnd(message), clinic.timezone),
  reason: message.errorMessage ?? 'The sender stopped without reporting a result',
})
