/** The dispatch of messages to their providers: claims, outcomes, postponements, and messages left to the operator. */
import type { ClinicId } from '../../domain/clinic.ts'
import type { Due } from '../../domain/due.ts'
import {
  applyFeedback,
  asUnresolved,
  type Claim,
  isMessageWaiting,
  type Message,
  PROVIDERS,
  type ProviderFeedback,
} from '../../domain/messages/message.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import type { StoredRecord } from '../calendar/calendar-entity.ts'
import { calendarKey } from '../keys/calendar.ts'
import { TTL } from '../keys/key.ts'
import { dueMessageKey, providerMessageKey } from '../keys/messages.ts'
import { Changeset } from '../table/changeset.ts'
import { commitWithRetry } from '../table/commit-packed.ts'
import { ifConditionHolds } from '../table/errors.ts'
import { retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import { isSameRecord } from '../table/updated-at-codec.ts'
import { dueKeyOf, dueMessages } from './due-messages.ts'
import { messageStore, toDispatchAttributes } from './messages.ts'

/** Adds changes to a transaction. */
type ExtendChanges = (changes: Changeset) => Promise<void>

/** How long a message can be found by its provider's id. Receipts arrive within three days. */
const RECEIPT_SECONDS = 7 * 24 * 60 * 60

type ReadMessage = Pick<StoredRecord<unknown>, 'version'> & { readonly record: Message }

type CountMessage = (metric: string, dimension?: Readonly<Record<string, string>>) => void

type Dependencies = {
  readonly table: Table
  /** Counts the messages that reach a status, by channel, and those that become unresolved. */
  readonly count?: CountMessage
}

/** Claims messages that wait to be sent, and records their outcomes. */
export function messageDispatch({ table, count = () => {} }: Dependencies) {
  const messages = messageStore({ table })

  /**
   * Claims a waiting message as it was read. Only one of several concurrent consumers gets the claim. False when the
   * message has changed since.
   */
  async function claim(clinic: ClinicId, { record, version }: ReadMessage, wanted: Claim): Promise<boolean> {
    if (!record.dispatch) return false
    const update = table.update(calendarKey(clinic, 'M', record.id), {
      UpdateExpression: 'SET di = :dispatch ADD v :one',
      ConditionExpression: 'v = :read',
      ExpressionAttributeValues: {
        ':dispatch': toDispatchAttributes({ ...record.dispatch, claim: wanted }),
        ':one': 1,
        ':read': version,
      },
    })
    if (await ifConditionHolds(update)) return true
    // The first attempt may have succeeded, with its reply lost.
    const current = await messages.find(clinic, record.id)
    return current?.record.dispatch?.claim?.token === wanted.token
  }

  /**
   * Records feedback on a message. Its status only moves forward, and repeated feedback changes nothing.
   * `extendChanges` adds to the same transaction. Null for an unknown message.
   */
  const recordFeedback = (
    clinic: ClinicId,
    id: string,
    feedback: ProviderFeedback,
    extendChanges?: ExtendChanges,
  ): Promise<WithUpdatedAt<Message> | null> =>
    change(clinic, id, (message) => applyFeedback(message, feedback), extendChanges)

  /** Fails a message that waits. One that was claimed or sent since it was read is left unchanged: its provider may have it. */
  const giveUp = (clinic: ClinicId, id: string, reason: string) =>
    change(clinic, id, (message) =>
      isMessageWaiting(message) ? applyFeedback(message, { kind: 'failed', reason }) : message,
    )

  /** Leaves a claimed message to a person or its provider's feedback, since the provider may or may not have it. */
  const markUnresolved = (
    clinic: ClinicId,
    id: string,
    reason: string,
    extendChanges?: ExtendChanges,
  ): Promise<WithUpdatedAt<Message> | null> =>
    change(clinic, id, (message) => unresolvedIfClaimed(message, reason), extendChanges)

  async function change(
    clinic: ClinicId,
    id: string,
    apply: (message: Message, version: number) => Message,
    extendChanges: ExtendChanges = async () => {},
  ): Promise<WithUpdatedAt<Message> | null> {
    let updated: WithUpdatedAt<Message> | null = null
    let before: Message | undefined
    await commitWithRetry(async () => {
      const stored = await messages.find(clinic, id)
      before = stored?.record
      updated = stored?.record ?? null
      const after = stored && apply(stored.record, stored.version)
      if (!after || isSameRecord(stored.record, after)) return null
      const changes = new Changeset(table, clinic)
      updated = messages.change(changes, stored, after)
      addKeyChanges(changes, stored.record, updated)
      await extendChanges(changes)
      return changes
    })
    countChange(count, before, updated)
    return updated
  }

  /** Releases a claim under which nothing was sent. The message is due again at `dueAt`. */
  const release = (clinic: ClinicId, id: string, token: string, dueAt: number) =>
    change(clinic, id, (message) => withoutClaim(message, token, dueAt))

  /** Moves the time at which a message is due. False if the message has changed since it was read. */
  async function postpone(clinic: ClinicId, read: ReadMessage, dueAt: number): Promise<boolean> {
    let isMoved = false
    await change(clinic, read.record.id, (message, version) => {
      isMoved = message.dispatch !== null && version === read.version
      return isMoved && message.dispatch ? { ...message, dispatch: { ...message.dispatch, dueAt } } : message
    })
    return isMoved
  }

  /** Removes a due item unless its message is due at that time, as it can be by now. */
  const removeDue = (due: Due): Promise<void> =>
    retryOnConflict(async () => {
      const read = await messages.find(due.clinic, due.id)
      if (read?.record.dispatch?.dueAt === due.at) return
      const changes = new Changeset(table, due.clinic)
      changes.remove(dueMessageKey(due))
      changes.requireVersion(calendarKey(due.clinic, 'M', due.id), read?.version ?? null)
      await changes.commit()
    })

  return {
    find: messages.find,
    claim,
    recordFeedback,
    giveUp,
    release,
    postpone,
    markUnresolved,
    removeDue,
    ...dueMessages({ table }),
  }
}

/** Counts a message that has changed its status or become unresolved, unless its clinic is a test clinic. */
function countChange(count: CountMessage, before: Message | undefined, after: Message | null): void {
  if (!after || after.isTest) return
  if (after.status !== before?.status)
    count('message_status', { channel: after.channel, status: after.status })
  if (after.dispatch?.isUnresolved && !before?.dispatch?.isUnresolved) count('message_unresolved')
}

/** The message without the claim that has this token, due at `dueAt`; unchanged if another process has claimed it. */
const withoutClaim = (message: Message, token: string, dueAt: number): Message =>
  message.dispatch?.claim?.token === token
    ? { ...message, dispatch: { dueAt, claim: null, isUnresolved: false } }
    : message

const unresolvedIfClaimed = (message: Message, reason: string): Message =>
  message.status === 'queued' && message.dispatch?.claim ? asUnresolved(message, reason) : message

/** The change of a message's due item, and the key by which receipts find an SMS once its provider has named it. */
export function addKeyChanges(changes: Changeset, before: Message, after: Message): void {
  const { clinic } = changes
  changes.move(dueKeyOf(clinic, before), dueKeyOf(clinic, after))
  if (after.channel === 'sms' && before.providerMessageId === null && after.providerMessageId)
    changes.put({
      ...providerMessageKey(PROVIDERS.sms, after.providerMessageId),
      c: clinic,
      m: after.id,
      [TTL]: Math.floor(Date.parse(after.acceptedAt) / 1000) + RECEIPT_SECONDS,
    })
}
