import { createHmac } from 'node:crypto'
import type { ClinicId } from '../../domain/clinic.ts'
import type { AcceptedMessage } from '../../domain/messages/accept-message.ts'
import type { Channel, Message } from '../../domain/messages/message.ts'
import { type Key, TTL } from '../keys/key.ts'
import { messageQuotaKey, recipientQuotaKey } from '../keys/messages.ts'
import type { Changeset } from '../table/changeset.ts'
import type { Table } from '../table/table.ts'

/** Counts of a day are kept a little longer than the day lasts anywhere. */
export const QUOTA_SECONDS = 3 * 24 * 60 * 60

/** Recipients are stored as hashes, because a count outlasts the erasure of its patient, which replaces the secret. */
const hashOf = (recipient: string, secret: string): string =>
  createHmac('sha256', secret).update(recipient.toLowerCase()).digest('base64url')

/** How many messages of each channel a clinic sent on a day: in all, and to each recipient. */
export function messageQuotas({ table }: { table: Table }) {
  const read = async (key: Key, channel: Channel): Promise<number> =>
    ((await table.get(key))?.[channel] as number | undefined) ?? 0

  const sentToday = (clinic: ClinicId, date: string, channel: Channel): Promise<number> =>
    read(messageQuotaKey(clinic, date), channel)

  const sentToRecipient = (
    clinic: ClinicId,
    date: string,
    channel: Channel,
    { recipient, secret }: { recipient: string; secret: string },
  ): Promise<number> => read(recipientQuotaKey(clinic, date, hashOf(recipient, secret)), channel)

  /** Counts an accepted message, under the condition that both limits hold. */
  function add(changes: Changeset, { message, dailyLimit, recipientLimit }: AcceptedMessage, secret: string) {
    const [ofDay, ofRecipient] = keysOf(changes.clinic, message, secret)
    for (const [key, limit] of [
      [ofDay, dailyLimit],
      [ofRecipient, recipientLimit],
    ] as const) {
      changes.add(key, message.channel, 1)
      changes.limitCounter(key, message.channel, limit)
      changes.set(key, TTL, expiryOf(message))
    }
  }

  /** Takes back the count of a message that was not sent. */
  function giveBack(changes: Changeset, message: Message, secret: string): void {
    for (const key of keysOf(changes.clinic, message, secret)) {
      changes.add(key, message.channel, -1)
      // An erasure has replaced the secret since: the count is a new item.
      changes.set(key, TTL, expiryOf(message))
    }
  }

  return { sentToday, sentToRecipient, add, giveBack }
}

const expiryOf = ({ acceptedAt }: Message): number =>
  Math.floor(Date.parse(acceptedAt) / 1000) + QUOTA_SECONDS

const keysOf = (clinic: ClinicId, { acceptedOn, recipient }: Message, secret: string): [Key, Key] => [
  messageQuotaKey(clinic, acceptedOn),
  recipientQuotaKey(clinic, acceptedOn, hashOf(recipient, secret)),
]
