import type { ClinicId } from '../../domain/clinic.ts'
import { DUE_PARTITION_PREFIX } from './due.ts'
import { type Key, longId, partition, shortId, sortableNumber } from './key.ts'

/** Events in the order in which they became readable: dense places 1..n. */
export const eventsPartition = (clinic: ClinicId): string => partition(clinic, 'E')

export const eventKey = (clinic: ClinicId, position: number): Key => ({
  pk: eventsPartition(clinic),
  sk: sortableNumber(position),
})

/** How many events there have been. */
export const eventHeadKey = (clinic: ClinicId): Key => ({ pk: partition(clinic, 'EH'), sk: 'head' })

/** Prefix of partitions of events that were announced in their record's transaction and have no place yet. */
export const ANNOUNCED_PARTITION_PREFIX = `${DUE_PARTITION_PREFIX}event#`

const ANNOUNCED_SHARDS = 8

export const ALL_ANNOUNCED_PARTITIONS = Array.from(
  { length: ANNOUNCED_SHARDS },
  (_, shard) => `${ANNOUNCED_PARTITION_PREFIX}${shard}`,
)

/** All of a clinic's events are in one of them, next to each other. */
export const announcedPartition = (clinic: ClinicId): string =>
  ALL_ANNOUNCED_PARTITIONS[Number.parseInt(clinic.slice(-2), 16) % ANNOUNCED_SHARDS] as string

export const announcedKey = (clinic: ClinicId, record: string, sequence: number): Key => ({
  pk: announcedPartition(clinic),
  sk: `${shortId(clinic)}#${shortId(record)}#${sortableNumber(sequence)}`,
})

/** The range of a clinic's announced events in their partition. */
export const announcedRange = (clinic: ClinicId): { from: string; to: string } => ({
  from: `${shortId(clinic)}#`,
  to: `${shortId(clinic)}#~`,
})

/** Whose event was announced, which record's, and the how-manieth. */
export function parseAnnouncedKey({ sk }: Key): { clinic: ClinicId; record: string; sequence: number } {
  const [clinic = '', record = '', sequence = ''] = sk.split('#')
  return { clinic: longId(clinic) as ClinicId, record: longId(record), sequence: Number(sequence) }
}
