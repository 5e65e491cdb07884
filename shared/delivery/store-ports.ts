/** The store operations that the consumers and sweeps of this folder need. */
import type { ClinicId } from '../domain/clinic.ts'
import type { Due } from '../domain/due.ts'
import type { Claim, Message, ProviderFeedback } from '../domain/messages/message.ts'
import type { Delivery, DeliveryContext, DueDelivery } from '../domain/webhooks/delivery.ts'
import type { AttemptHealth, Permit, WebhookHealth } from '../domain/webhooks/webhook-health.ts'

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

/** A delivery that waits for its turn, or for a success of its endpoint. */
export type WaitingDelivery = { readonly id: string; readonly waitsFor: 'turn' | 'success' }

/** Deliveries of events to webhooks. */
export type Deliveries = {
  readonly find: (clinic: ClinicId, webhook: string, id: string) => Promise<Delivery | null>
  readonly readContext: (clinic: ClinicId, webhook: string, id: string) => Promise<DeliveryContext | null>
  /** The id of the record's first delivery before this one that has had no attempt; null if there is none. */
  readonly earlierUnattempted: (clinic: ClinicId, delivery: Delivery) => Promise<string | null>
  /** The id of the delivery of the record's next event that has had no attempt; null if there is none. */
  readonly nextUnattempted: (clinic: ClinicId, delivery: Delivery) => Promise<string | null>
  /** False if the delivery has changed since it was read. */
  readonly claim: (clinic: ClinicId, read: DeliveryContext, claim: Claim) => Promise<boolean>
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
  /** The deliveries that wait for their endpoint, oldest first, at most `limit`; those after the id `after`, if it is set. */
  readonly waiting: (
    clinic: ClinicId,
    webhook: string,
    limit: number,
    after?: string,
  ) => Promise<readonly WaitingDelivery[]>
  readonly removeWaiting: (clinic: ClinicId, webhook: string, id: string) => Promise<void>
}

export type Webhooks = {
  /** Disables a webhook that is active. `updatedAt` is an ISO 8601 instant. */
  readonly disable: (clinic: ClinicId, id: string, updatedAt: string) => Promise<void>
}

/** How webhook endpoints respond. */
export type HealthRecords = {
  /** Takes a permit. False if it was taken since the health was read, or the endpoint was tried. */
  readonly takePermit: (
    clinic: ClinicId,
    webhook: string,
    read: WebhookHealth,
    permit: Permit,
  ) => Promise<boolean>
  /** Records that a delivery is in the slow queue. False if another is, or the endpoint was tried since the health was read. */
  readonly recordQueued: (
    clinic: ClinicId,
    webhook: string,
    read: WebhookHealth,
    queued: NonNullable<WebhookHealth['queued']>,
  ) => Promise<boolean>
  /** Records an attempt, and frees its permit. Returns the health afterwards; null for a deleted webhook. */
  readonly record: (
    clinic: ClinicId,
    webhook: string,
    attempt: AttemptHealth,
  ) => Promise<WebhookHealth | null>
  /**
   * Records that a delivery waits, after it was changed. `wasQueued` if the slow queue was reserved for it. Returns the health
   * afterwards; null for a deleted webhook.
   */
  readonly recordWaiting: (
    clinic: ClinicId,
    webhook: string,
    at: number,
    wasQueued: boolean,
  ) => Promise<WebhookHealth | null>
  /** Records that no delivery waits, unless another has begun to wait since `read`. */
  readonly clearWaiting: (clinic: ClinicId, webhook: string, read: number) => Promise<void>
}
