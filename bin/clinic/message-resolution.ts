/** Messages of which nobody knows whether their provider has them: finding them, and a person's word on them. */
import type { Clinic, ClinicId } from '../../shared/domain/clinic.ts'
import { isUnresolved, type Message, type ProviderFeedback } from '../../shared/domain/message.ts'
import { isUuid } from '../../shared/domain/uuid.ts'
import { messageDispatch } from '../../shared/store/messages/dispatch.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { describeProgress } from './message-progress.ts'
import { CommandFailure } from './output.ts'

export const RESOLUTIONS = ['sent', 'failed'] as const
export type Resolution = (typeof RESOLUTIONS)[number]

/** Longer than any message is put off: a claim on one may end long before it is due again. */
const LOOKAHEAD_MS = 48 * 60 * 60 * 1000

/** Of each partition of what is on its way. */
const MAX_DUE = 25_000

/** The clinics' unresolved messages, those that the sweep has not been at among them; the longest unresolved first. */
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

/** When whoever had an unresolved message was done with it, or dead; milliseconds since the epoch. */
export const claimEnd = ({ dispatch }: Message): number => dispatch?.claim?.until ?? 0

/**
 * Settles an unresolved message, and gives it as it is then. What its provider says meanwhile has precedence.
 * @throws CommandFailure for a message that is not unresolved
 */
export async function resolveMessage(
  table: Table,
  clinic: Clinic,
  id: string,
  resolution: Resolution,
  now: () => number,
): Promise<Message> {
  const dispatch = messageDispatch({ table })
  const message = await requireUnresolved(table, clinic, id, now)
  // Looked at again for the transaction that settles it: nothing has happened to it if that one is committed.
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

async function requireUnresolved(
  table: Table,
  clinic: Clinic,
  id: string,
  now: () => number,
): Promise<Message> {
  const message = await requireMessage(table, clinic.id, id)
  if (isUnresolved(message, now())) return message
  const progress = describeProgress(message, clinic, now())
  throw new CommandFailure(`The message is ${progress}. There is nothing to settle.`)
}

/** The message that an argument names. */
export async function requireMessage(table: Table, clinic: ClinicId, id: string): Promise<Message> {
  const stored = isUuid(id) ? await messageStore({ table }).find(clinic, id.toLowerCase()) : null
  if (!stored) throw new CommandFailure(`The clinic has no message ${id}.`)
  return stored.record
}

/** The end of its claim is the latest that it can have been sent. */
const feedbackOf = (message: Message, resolution: Resolution, now: number): ProviderFeedback =>
  resolution === 'failed'
    ? { kind: 'failed', reason: 'Settled by the operator as failed' }
    : {
        kind: 'sent',
        at: new Date(Math.min(claimEnd(message), now)).toISOString(),
        providerMessageId: null,
      }
