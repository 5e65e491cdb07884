/** Where a message is on its way to its provider: claimed, settled, put off, or left for a person. */
import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../../domain/clinic.ts'
import {
  after,
  type Claim,
  leftUnresolved,
  type Message,
  type Occurrence,
  PROVIDERS,
} from '../../domain/message.ts'
import type { Stored } from '../calendar/calendar-list.ts'
import { calendarKey } from '../keys/calendar.ts'
import { type Due, dueOf, dueUntil } from '../keys/due.ts'
import { TTL } from '../keys/key.ts'
import {
  DUE_MESSAGE_PARTITIONS,
  dueMessageKey,
  providerMessageKey,
  UNRESOLVED_MESSAGES,
  unresolvedMessageKey,
} from '../keys/messages.ts'
import { Changeset } from '../table/changeset.ts'
import { commitFresh } from '../table/commit-packed.ts'
import { ConditionFailed, type Table } from '../table/table.ts'
import { messageStore, storedDispatch } from './messages.ts'

/** More for a transaction that notes something. */
type Also = (changes: Changeset) => Promise<void>

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
    { record, version }: Stored<Message>,
    wanted: Claim,
  ): Promise<boolean> {
    if (!record.dispatch) return false
    try {
      await table.update(calendarKey(clinic, 'M', record.id), {
        UpdateExpression: 'SET di = :dispatch ADD v :one',
        ConditionExpression: 'v = :read',
        ExpressionAttributeValues: {
          ':dispatch': storedDispatch({ ...record.dispatch, claim: wanted }),
          ':one': 1,
          ':read': version,
        },
      })
      return true
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      // Perhaps it was ourselves, and only the reply was lost.
      const now = await messages.find(clinic, record.id)
      return now?.record.dispatch?.claim?.token === wanted.token
    }
  }

  /**
   * Notes what happened to a message; forward only, and the same again changes nothing. `also` goes into the same
   * transaction. Null when there is no such message.
   */
  const note = (clinic: ClinicId, id: string, occurrence: Occurrence, also?: Also): Promise<Message | null> =>
    change(clinic, id, (message) => after(message, occurrence), also)

  /** Leaves a claimed message to a person, or to its provider's feedback: nobody knows whether the provider has it. */
  const leaveUnresolved = (
    clinic: ClinicId,
    id: string,
    reason: string,
    also?: Also,
  ): Promise<Message | null> =>
    change(
      clinic,
      id,
      (message) => (message.dispatch?.claim ? leftUnresolved(message, reason) : message),
      also,
    )

  async function change(
    clinic: ClinicId,
    id: string,
    to: (message: Message, version: number) => Message,
    also: Also = async () => {},
  ): Promise<Message | null> {
    let noted: Message | null = null
    await commitFresh(async () => {
      const stored = await messages.find(clinic, id)
      noted = stored && to(stored.record, stored.version)
      if (!stored || !noted || isDeepStrictEqual(noted, stored.record)) return null
      const changes = changesOf(clinic, stored, noted)
      if (noted.channel === 'sms' && stored.record.providerMessageId === null && noted.providerMessageId)
        changes.put({
          ...providerMessageKey(PROVIDERS.sms, noted.providerMessageId),
          c: clinic,
          m: id,
          [TTL]: Math.floor(Date.parse(noted.acceptedAt) / 1000) + RECEIPT_SECONDS,
        })
      await also(changes)
      return changes
    })
    return noted
  }

  /** Gives a claim back that led to nothing, to be looked at again at `dueAt`. */
  const release = (clinic: ClinicId, id: string, token: string, dueAt: number): Promise<Message | null> =>
    change(clinic, id, (message) =>
      message.dispatch?.claim?.token === token
        ? { ...message, dispatch: { dueAt, claim: null, isUnresolved: false } }
        : message,
    )

  /** Puts off when a message is looked at, unless it has changed since it was read. */
  const postpone = (clinic: ClinicId, read: Stored<Message>, dueAt: number): Promise<Message | null> =>
    change(clinic, read.record.id, (message, version) =>
      message.dispatch && version === read.version
        ? { ...message, dispatch: { ...message.dispatch, dueAt } }
        : message,
    )

  /** The record's change, with its place among what is due. */
  function changesOf(clinic: ClinicId, stored: Stored<Message>, next: Message): Changeset {
    const changes = new Changeset(table, clinic)
    messages.change(changes, stored, next)
    changes.move(placeOf(clinic, stored.record), placeOf(clinic, next))
    return changes
  }

  /** What is due by now, soonest first, at most `limit` of each partition. */
  async function due(now: number, limit: number): Promise<Due[]> {
    const read = DUE_MESSAGE_PARTITIONS.map((pk) => table.query({ pk, to: dueUntil(now), limit }))
    return (await Promise.all(read))
      .flat()
      .map(dueOf)
      .sort((a, b) => a.at - b.at)
  }

  /** Every message that waits for a person; those whose claim ended since the last sweep are still among the due. */
  async function unresolved(): Promise<Due[]> {
    return (await table.query({ pk: UNRESOLVED_MESSAGES, limit: 100_000 })).map(dueOf)
  }

  /** Takes a due item away whose message is done, or due at another time. */
  const forget = (item: Due): Promise<void> => table.deleteMany([dueMessageKey(item)])

  /** Whose message a provider's id is; null when it is nobody's, or too old. */
  async function byProviderId(provider: string, id: string): Promise<Omit<Due, 'at'> | null> {
    const item = await table.get(providerMessageKey(provider, id))
    return item ? { clinic: item.c as ClinicId, id: item.m as string } : null
  }

  return {
    find: messages.find,
    claim,
    note,
    release,
    postpone,
    leaveUnresolved,
    due,
    unresolved,
    forget,
    byProviderId,
  }
}

/** Where a message stands among what is due. */
function placeOf(clinic: ClinicId, { id, dispatch }: Message) {
  if (!dispatch) return null
  const item = { clinic, id, at: dispatch.dueAt }
  return dispatch.isUnresolved ? unresolvedMessageKey(item) : dueMessageKey(item)
}
