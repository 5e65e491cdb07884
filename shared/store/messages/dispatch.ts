/** Where a message is on its way to its provider: claimed, settled, put off, or left for a person. */
import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../../domain/clinic.ts'
import {
  applyFeedback,
  asUnresolved,
  type Claim,
  type Message,
  PROVIDERS,
  type ProviderFeedback,
} from '../../domain/message.ts'
import type { StoredRecord } from '../calendar/calendar-list.ts'
import { calendarKey } from '../keys/calendar.ts'
import { type Due, dueUntil, parseDueKey } from '../keys/due.ts'
import { TTL } from '../keys/key.ts'
import {
  DUE_MESSAGE_PARTITIONS,
  dueMessageKey,
  providerMessageKey,
  UNRESOLVED_MESSAGES_PARTITION,
  unresolvedMessageKey,
} from '../keys/messages.ts'
import { Changeset } from '../table/changeset.ts'
import { commitWithRetry } from '../table/commit-packed.ts'
import { ConditionFailed, type Table } from '../table/table.ts'
import { messageStore, toDispatchAttributes } from './messages.ts'

/** More for a transaction that notes something. */
type ExtendChanges = (changes: Changeset) => Promise<void>

/** Receipts come within three days; then nobody asks for a message by its provider's id any more. */
const RECEIPT_SECONDS = 7 * 24 * 60 * 60

export function messageDispatch({ table }: { table: Table }) {
  const messages = messageStore({ table })

  /**
   * Claims a waiting message as it was read: of any number of consumers one gets it, and nobody ever again. False when
   * it has changed since.
   */
  async function claim(
    clinic: ClinicId,
    { record, version }: StoredRecord<Message>,
    wanted: Claim,
  ): Promise<boolean> {
    if (!record.dispatch) return false
    try {
      await table.update(calendarKey(clinic, 'M', record.id), {
        UpdateExpression: 'SET di = :dispatch ADD v :one',
        ConditionExpression: 'v = :read',
        ExpressionAttributeValues: {
          ':dispatch': toDispatchAttributes({ ...record.dispatch, claim: wanted }),
          ':one': 1,
          ':read': version,
        },
      })
      return true
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      // Perhaps it was ourselves, and only the reply was lost.
      const current = await messages.find(clinic, record.id)
      return current?.record.dispatch?.claim?.token === wanted.token
    }
  }

  /**
   * Notes what happened to a message; forward only, and the same again changes nothing. `also` goes into the same
   * transaction. Null when there is no such message.
   */
  const recordFeedback = (
    clinic: ClinicId,
    id: string,
    feedback: ProviderFeedback,
    extendChanges?: ExtendChanges,
  ): Promise<Message | null> =>
    change(clinic, id, (message) => applyFeedback(message, feedback), extendChanges)

  /** Leaves a claimed message to a person, or to its provider's feedback: nobody knows whether the provider has it. */
  const markUnresolved = (
    clinic: ClinicId,
    id: string,
    reason: string,
    extendChanges?: ExtendChanges,
  ): Promise<Message | null> =>
    change(
      clinic,
      id,
      (message) => (message.dispatch?.claim ? asUnresolved(message, reason) : message),
      extendChanges,
    )

  async function change(
    clinic: ClinicId,
    id: string,
    apply: (message: Message, version: number) => Message,
    extendChanges: ExtendChanges = async () => {},
  ): Promise<Message | null> {
    let updated: Message | null = null
    await commitWithRetry(async () => {
      const stored = await messages.find(clinic, id)
      updated = stored && apply(stored.record, stored.version)
      if (!stored || !updated || isDeepStrictEqual(updated, stored.record)) return null
      const changes = buildChangeset(clinic, stored, updated)
      if (updated.channel === 'sms' && stored.record.providerMessageId === null && updated.providerMessageId)
        changes.put({
          ...providerMessageKey(PROVIDERS.sms, updated.providerMessageId),
          c: clinic,
          m: id,
          [TTL]: Math.floor(Date.parse(updated.acceptedAt) / 1000) + RECEIPT_SECONDS,
        })
      await extendChanges(changes)
      return changes
    })
    return updated
  }

  /** Gives a claim back that led to nothing, to be looked at again at `dueAt`. */
  const release = (clinic: ClinicId, id: string, token: string, dueAt: number): Promise<Message | null> =>
    change(clinic, id, (message) =>
      message.dispatch?.claim?.token === token
        ? { ...message, dispatch: { dueAt, claim: null, isUnresolved: false } }
        : message,
    )

  /** Puts off when a message is looked at, unless it has changed since it was read. */
  const postpone = (clinic: ClinicId, read: StoredRecord<Message>, dueAt: number): Promise<Message | null> =>
    change(clinic, read.record.id, (message, version) =>
      message.dispatch && version === read.version
        ? { ...message, dispatch: { ...message.dispatch, dueAt } }
        : message,
    )

  /** The record's change, with its place among what is due. */
  function buildChangeset(clinic: ClinicId, stored: StoredRecord<Message>, next: Message): Changeset {
    const changes = new Changeset(table, clinic)
    messages.change(changes, stored, next)
    changes.move(dueKeyOf(clinic, stored.record), dueKeyOf(clinic, next))
    return changes
  }

  /** What is due by now, soonest first, at most `limit` of each partition. */
  async function due(now: number, limit: number): Promise<Due[]> {
    const read = DUE_MESSAGE_PARTITIONS.map((pk) => table.query({ pk, to: dueUntil(now), limit }))
    return (await Promise.all(read))
      .flat()
      .map(parseDueKey)
      .sort((a, b) => a.at - b.at)
  }

  /** Every message that waits for a person; those whose claim ended since the last sweep are still among the due. */
  async function unresolved(): Promise<Due[]> {
    return (await table.query({ pk: UNRESOLVED_MESSAGES_PARTITION, limit: 100_000 })).map(parseDueKey)
  }

  /** Takes a due item away whose message is done, or due at another time. */
  const removeDue = (item: Due): Promise<void> => table.deleteMany([dueMessageKey(item)])

  /** Whose message a provider's id is; null when it is nobody's, or too old. */
  async function findByProviderId(provider: string, id: string): Promise<Omit<Due, 'at'> | null> {
    const item = await table.get(providerMessageKey(provider, id))
    return item ? { clinic: item.c as ClinicId, id: item.m as string } : null
  }

  return {
    find: messages.find,
    claim,
    recordFeedback,
    release,
    postpone,
    markUnresolved,
    due,
    unresolved,
    removeDue,
    findByProviderId,
  }
}

/** Where a message stands among what is due. */
function dueKeyOf(clinic: ClinicId, { id, dispatch }: Message) {
  if (!dispatch) return null
  const item = { clinic, id, at: dispatch.dueAt }
  return dispatch.isUnresolved ? unresolvedMessageKey(item) : dueMessageKey(item)
}
