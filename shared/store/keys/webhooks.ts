import type { ClinicId } from '../../domain/clinic.ts'
import type { DueDelivery } from '../../domain/webhooks/delivery.ts'
import { DUE_PARTITION_PREFIX, duePartitions, dueSortKey, parseDueKey } from './due.ts'
import { type Key, longId, partition, shortId } from './key.ts'

export const webhooksPartition = (clinic: ClinicId): string => partition(clinic, 'W')

export const webhookKey = (clinic: ClinicId, id: string): Key => ({ pk: webhooksPartition(clinic), sk: id })

/** The inverse of {@link webhookKey}. */
export const parseWebhookKey = ({ sk }: Key): string => sk

/** The number of webhooks. */
export const webhookCountKey = (clinic: ClinicId): Key => ({ pk: partition(clinic, 'WN'), sk: 'count' })

export const webhookHealthPartition = (clinic: ClinicId): string => partition(clinic, 'WS')

/** The health of a webhook's endpoint: an item of its own, which the delivery of its events writes. */
export const webhookHealthKey = (clinic: ClinicId, id: string): Key => ({
  pk: webhookHealthPartition(clinic),
  sk: id,
})

/** The inverse of {@link webhookHealthKey}. */
export const parseWebhookHealthKey = ({ sk }: Key): string => sk

/** Deliveries to one webhook by id. Ids begin with the time of creation, so they sort by it. */
export const deliveriesPartition = (clinic: ClinicId, webhook: string): string =>
  partition(clinic, `WD#${shortId(webhook)}`)

export const deliveryKey = (clinic: ClinicId, webhook: string, id: string): Key => ({
  pk: deliveriesPartition(clinic, webhook),
  sk: id,
})

/** The inverse of {@link deliveryKey}. */
export const parseDeliveryKey = ({ pk, sk }: Key): { webhook: string; id: string } => ({
  webhook: longId(pk.slice(pk.lastIndexOf('#') + 1)),
  id: sk,
})

/** Whether a cursor can be the sort key of a delivery. */
export const isDeliveryCursor = (cursor: string): boolean => /^[0-9a-f-]{36}$/.test(cursor)

export const DUE_DELIVERY_PARTITION_PREFIX = `${DUE_PARTITION_PREFIX}delivery#`

/** Deliveries by the time at which the sweep checks them. */
const DUE_DELIVERIES = duePartitions('delivery', 16)

export const DUE_DELIVERY_PARTITIONS = DUE_DELIVERIES.all

export const dueDeliveryKey = (due: DueDelivery): Key => ({
  pk: DUE_DELIVERIES.of(due.id),
  sk: `${dueSortKey(due)}#${shortId(due.webhook)}`,
})

export const parseDueDeliveryKey = (key: Key): DueDelivery => ({
  ...parseDueKey(key),
  webhook: longId(key.sk.slice(key.sk.lastIndexOf('#') + 1)),
})
