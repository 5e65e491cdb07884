/** Unresolved messages: those that may or may not have reached their provider. */

import type { Command } from 'commander'
import { renderMessage } from '../../../shared/api/messages.ts'
import { oneOf } from '../../../shared/api/schemas.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import {
  isMessageWaiting,
  isUnresolved,
  type Message,
  type ProviderFeedback,
  SENDER_STOPPED,
} from '../../../shared/domain/messages/message.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import type { WithUpdatedAt } from '../../../shared/domain/with-updated-at.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { messageDispatch } from '../../../shared/store/messages/dispatch.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { Instant } from '../../../shared/sync/entities/row-fields.ts'
import { connect, openClinic } from '../tool/connection.ts'
import { requireRecord } from '../tool/known-record.ts'
import { CommandFailure, changeLine, counted, formatTable, parseOption, print } from '../tool/output.ts'

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

export const RESOLUTIONS = ['sent', 'failed'] as const
export type Resolution = (typeof RESOLUTIONS)[number]

/** Longer than any message is postponed: a claim can expire long before its message is due again. */
const LOOKAHEAD_MS = 48 * 60 * 60 * 1000

/** Maximum number of due items read per partition. */
const MAX_DUE = 25_000

/** The clinics' unresolved messages, including those that the sweep has not marked yet; the oldest claims first. */
export async function unresolvedMessages(
  table: Table,
  clinics: readonly Clinic[],
  now: number,
): Promise<{ clinic: Clinic; message: Message }[]> {
  const dispatch = messageDispatch({ table })
  const items = [...(await dispatch.unresolved()), ...(await dispatch.due(now + LOOKAHEAD_MS, MAX_DUE))]
  const byClinic = Map.groupBy(items, ({ clinic }) => clinic)
  const found: { clinic: Clinic; message: Message }[] = []
  for (const clinic of clinics) {
    const ids = byClinic.get(clinic.id)?.map(({ id }) => id) ?? []
    for (const { record } of (await messageStore({ table }).findMany(clinic.id, ids)).values()) {
      if (isUnresolved(record, now)) found.push({ clinic, message: record })
    }
  }
  return found.sort((a, b) => claimEnd(a.message) - claimEnd(b.message))
}

/** When the claim of an unresolved message expired, in milliseconds since the epoch. */
export const claimEnd = ({ dispatch }: Message): number => dispatch?.claim?.until ?? 0

/**
 * Sets the outcome of an unresolved message and returns the message. Feedback from its provider takes precedence.
 * @throws CommandFailure for a message that is not unresolved
 */
export async function resolveMessage(
  table: Table,
  clinic: Clinic,
  id: string,
  resolution: Resolution,
  now: () => number,
): Promise<WithUpdatedAt<Message>> {
  const dispatch = messageDispatch({ table })
  const message = await requireUnresolved(table, clinic, id, now)
  // Checked again before each attempt of the transaction, which commits only if the message has not changed since.
  const settled = await dispatch.recordFeedback(
    clinic.id,
    message.id,
    feedbackOf(message, resolution, now()),
    async () => {
      await requireUnresolved(table, clinic, id, now)
    },
  )
  return settled ?? message
}

/**
 * Sets the outcome of the clinic's unresolved messages that were accepted before an instant, oldest claim first. Messages
 * that their provider settles at the same time keep its outcome. The next run continues an interrupted one.
 */
export async function resolveMessages(
  table: Table,
  clinic: Clinic,
  before: string,
  resolution: Resolution,
  now: () => number,
): Promise<{ readonly resolved: WithUpdatedAt<Message>[]; readonly settled: number }> {
  const found = await unresolvedMessages(table, [clinic], now())
  const resolved: WithUpdatedAt<Message>[] = []
  let settled = 0
  for (const { message } of found.filter(({ message }) => message.acceptedAt < before)) {
    try {
      resolved.push(await resolveMessage(table, clinic, message.id, resolution, now))
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error
      settled++
    }
  }
  return { resolved, settled }
}

/** An unresolved message as commands list it, with the reason. */
export const unresolvedJson = ({ clinic, message }: { clinic: Clinic; message: Message }) => ({
  clinic_id: clinic.id,
  id: message.id,
  channel: message.channel,
  accepted_at: clinicTimestamp(message.acceptedAt, clinic.timezone),
  claimed_until: localTime(claimEnd(message), clinic.timezone),
  reason: message.errorMessage ?? SENDER_STOPPED,
})

export const unresolvedLines = (messages: readonly ReturnType<typeof unresolvedJson>[]): string[] => {
  if (messages.length === 0) return ['No unresolved messages']
  return formatTable(
    messages.map(({ clinic_id, id, channel, accepted_at, claimed_until, reason }) => [
      clinic_id,
      id,
      channel,
      `accepted ${accepted_at}`,
      `claimed until ${claimed_until}`,
      reason,
    ]),
  )
}

async function requireUnresolved(
  table: Table,
  clinic: Clinic,
  id: string,
  now: () => number,
): Promise<WithUpdatedAt<Message>> {
  const message = await requireMessage({ table, clinic }, id)
  if (isUnresolved(message, now())) return message
  const state =
    message.dispatch === null ? message.status : isMessageWaiting(message) ? 'waiting' : 'being sent'
  throw new CommandFailure(`The message is ${state}: only unresolved messages can be resolved.`)
}

/** The message with this id. @throws CommandFailure if there is none */
export const requireMessage = async (
  { table, clinic }: { readonly table: Table; readonly clinic: Clinic },
  id: string,
): Promise<WithUpdatedAt<Message>> =>
  (await requireRecord('message', id, (known) => messageStore({ table }).find(clinic.id, known))).record

/** A message was sent no later than the end of its claim. */
const feedbackOf = (message: Message, resolution: Resolution, now: number): ProviderFeedback =>
  resolution === 'failed'
    ? { kind: 'failed', reason: 'Settled by the operator as failed' }
    : {
        kind: 'sent',
        at: new Date(Math.min(claimEnd(message), now)).toISOString(),
        providerMessageId: null,
      }

/** An instant (milliseconds since the epoch) as a timestamp in the clinic's time zone. */
const localTime = (at: number, timezone: string): string =>
  clinicTimestamp(new Date(at).toISOString(), timezone)

/** A message as commands print it, without its subject and text. */
export function messageJson(message: WithUpdatedAt<Message>, clinic: Clinic) {
  const { subject: _subject, message: _text, ...entry } = renderMessage(message, clinic)
  return { clinic_id: clinic.id, ...entry }
}
