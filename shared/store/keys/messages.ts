import type { ClinicId } from '../../domain/clinic.ts'
import type { Due } from '../../domain/due.ts'
import { DUE_PARTITION_PREFIX, duePartitions, dueSortKey } from './due.ts'
import { type Key, partition } from './key.ts'

/** How many messages a clinic sent: by day, and by day and recipient. */
export const messageQuotaPartition = (clinic: ClinicId): string => partition(clinic, 'MQ')

/** How many messages a clinic sent on one of its days. */
export const messageQuotaKey = (clinic: ClinicId, date: string): Key => ({
  pk: messageQuotaPartition(clinic),
  sk: date,
})

/** How many messages of one of its days a clinic sent to the recipient with this hash. */
export const recipientQuotaKey = (clinic: ClinicId, date: string, recipientHash: string): Key => ({
  pk: messageQuotaPartition(clinic),
  sk: `${date}#${recipientHash}`,
})

/** Prefix of the partitions of messages that have yet to be handed to a provider. */
export const DUE_MESSAGE_PARTITION_PREFIX = `${DUE_PARTITION_PREFIX}message#`

const DUE_MESSAGES = duePartitions('message', 16)

export const DUE_MESSAGE_PARTITIONS = DUE_MESSAGES.all

/** Messages whose claim expired with an unknown outcome. There are few, and the operator lists them all. */
export const UNRESOLVED_MESSAGES_PARTITION = `${DUE_PARTITION_PREFIX}unresolved`

export const dueMessageKey = (due: Due): Key => ({
  pk: DUE_MESSAGES.of(due.id),
  sk: dueSortKey(due),
})

export const unresolvedMessageKey = (due: Due): Key => ({
  pk: UNRESOLVED_MESSAGES_PARTITION,
  sk: dueSortKey(due),
})

/** Prefix of partitions by a provider's id of a message. Its receipts contain no other id. */
export const PROVIDER_PARTITION_PREFIX = 'provider#'

export const providerMessageKey = (provider: string, id: string): Key => ({
  pk: `${PROVIDER_PARTITION_PREFIX}${provider}#${id}`,
  sk: 'message',
})
