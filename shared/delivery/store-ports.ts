/** The store operations that the consumers and sweeps of this folder need. */
import type { ClinicId } from '../domain/clinic.ts'
import type { Due } from '../domain/due.ts'
import type { Claim, Message, ProviderFeedback } from '../domain/messages/message.ts'
import type { Delivery, DueDelivery } from '../domain/webhooks/delivery.ts'

/** A message with the version of its record and the number of its events, as they were read. */
export type StoredMessage = { readonly record: Message; readonly version: number; readonly events: number }

/** Messages on their way to a provider. */
export type Messages = {
  readonly find: (clinic: ClinicId, id: string) => Promise<StoredMessage | null>
  /** False if the message has changed since it was read. */
  readonly claim: (clinic: ClinicId, read: StoredMessage, claim: Claim) => Promise<boolean>
  readonly recordFeedback: (clinic: ClinicId, id: string, feedback: ProviderFeedback) => Promise<unknown>
  /** Fails a message that still waits. */
  readonly giveUp: (clinic: ClinicId, id: string, reason: string) => Promise<unknown>
  readonly markUnresolved: (clinic: ClinicId, id: string, reason: string) => Promise<unknown>
  /** Ends the claim with this token without a result; the sweep checks the message at `dueAt`. */
  readonly release: (clinic: ClinicId, id: string, token: string, dueAt: number) => Promise<unknown>
  /** False if the message has changed since it was read. */
  readonly postpone: (clinic: ClinicId, read: StoredMessage, dueAt: number) => Promise<boolean>
  /** The messages that are due by `until`, at most `size` of each partition at a time, earliest first. */
  readonly dueBatches: (until: number, size: number) => AsyncIterable<readonly Due[]>
  readonly removeDue: (due: Due) => Promise<void>
}

export type Deliveries = {
  readonly find: (clinic: ClinicId, webhook: string, id: string) => Promise<Delivery | null>
  /** Leaves the delivery unchanged if `apply` returns null. Returns its state afterwards; null for an unknown one. */
  readonly change: (
    clinic: ClinicId,
    webhook: string,
    id: string,
    apply: (before: Delivery) => Delivery | null,
  ) => Promise<Delivery | null>
  /** The deliveries that are due by `until`, at most `size` of each partition at a time, earliest first. */
  readonly dueBatches: (until: number, size: number) => AsyncIterable<readonly DueDelivery[]>
  readonly removeDue: (due: DueDelivery) => Promise<void>
}
