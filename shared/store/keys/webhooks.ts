import type { ClinicId } from '../../domain/clinic.ts'
import { DUE_PARTITION_PREFIX, type Due, dueSortKey, parseDueKey } from './due.ts'
import { type Key, longId, partition, shortId, sortableNumber } from './key.ts'

export const webhooksPartition = (clinic: ClinicId): string => partition(clinic, 'W')

export const webhookKey = (clinic: ClinicId, id: string): Key => ({ pk: webhooksPartition(clinic), sk: id })

/** How many webhooks there are. */
export const webhookCountKey = (clinic: ClinicId): Key => ({ pk: partition(clinic, 'WN'), sk: 'count' })

/** How an endpoint behaves; beside the webhook, since deliveries write it all the time. */
export const webhookHealthKey = (clinic: ClinicId, id: string): Key => ({
  pk: partition(clinic, 'WS'),
  sk: id,
})

/** Deliveries to one endpoint by id, which begins with the time it was made. */
export const deliveriesPartition = (clinic: ClinicId, webhook: string): string =>
  partition(clinic, `WD#${shortId(webhook)}`)

export const deliveryKey = (clinic: ClinicId, webhook: string, id: string): Key => ({
  pk: deliveriesPartition(clinic, webhook),
  sk: id,
})

/** Deliveries of a record to an endpoint that were not attempted yet, in the order of its events. */
export const firstAttemptsPartition = (clinic: ClinicId, webhook: string): string =>
  partition(clinic, `WF#${shortId(webhook)}`)

export const firstAttemptKey = (
  clinic: ClinicId,
  webhook: string,
  record: string,
  sequence: number,
): Key => ({
  pk: firstAttemptsPartition(clinic, webhook),
  sk: `${shortId(record)}#${sortableNumber(sequence)}`,
})

/** Deliveries to webhooks, by when they are to be looked at. */
export const DUE_DELIVERY_PARTITIONS = [0, 1, 2, 3].map((shard) => `${DUE_PARTITION_PREFIX}delivery#${shard}`)

export type DueDelivery = Due & { readonly webhook: string }

export const dueDeliveryKey = (due: DueDelivery): Key => ({
  pk: DUE_DELIVERY_PARTITIONS[
    Number.parseInt(due.id.slice(-1), 16) % DUE_DELIVERY_PARTITIONS.length
  ] as string,
  sk: `${dueSortKey(due)}#${shortId(due.webhook)}`,
})

export const parseDueDeliveryKey = (key: Key): DueDelivery => ({
  ...parseDueKey(key),
  webhook: longId(key.sk.slice(key.sk.lastIndexOf('#') + 1)),
})
