import { type ClinicId, clinicIdOf } from '../../domain/clinic.ts'
import { DUE_PARTITION_PREFIX, duePartitions } from './due.ts'
import { type Key, longId, partition, shortId, sortableNumber } from './key.ts'

/** Events in the order in which they became readable: consecutive positions from 1. */
export const eventsPartition = (clinic: ClinicId): string => partition(clinic, 'E')

export const eventKey = (clinic: ClinicId, position: number): Key => ({
  pk: eventsPartition(clinic),
  sk: sortableNumber(position),
})

/** Every sort key from this position on. */
export const eventsFrom = (position: number): string => sortableNumber(position)

/** The position of an event: the inverse of {@link eventKey}. */
export const parseEventKey = ({ sk }: Key): number => Number(sk)

/** The number of events so far. */
export const eventHeadKey = (clinic: ClinicId): Key => ({ pk: partition(clinic, 'EH'), sk: 'head' })

/** Prefix of the partitions of events that their record's transaction announced and that have no position yet. */
export const ANNOUNCED_PARTITION_PREFIX = `${DUE_PARTITION_PREFIX}event#`

const ANNOUNCED = duePartitions('event', 64)

export const ALL_ANNOUNCED_PARTITIONS = ANNOUNCED.all

/** All announced events of a clinic are adjacent in one partition. */
export const announcedPartition = (clinic: ClinicId): string => ANNOUNCED.of(clinic)

export const announcedKey = (clinic: ClinicId, record: string, sequence: number): Key => ({
  pk: announcedPartition(clinic),
  sk: `${shortId(clinic)}#${shortId(record)}#${sortableNumber(sequence)}`,
})

/** The sort keys of a clinic's announced events in their partition. */
export const announcedRange = (clinic: ClinicId): { from: string; to: string } => ({
  from: `${shortId(clinic)}#`,
  to: `${shortId(clinic)}#~`,
})

/** Sorts after every announced event of a record. */
export const announcedRecordEnd = (clinic: ClinicId, record: string): string =>
  `${shortId(clinic)}#${shortId(record)}#~`

/** The clinic, record and sequence number of an announced event: the inverse of {@link announcedKey}. */
export function parseAnnouncedKey({ sk }: Pick<Key, 'sk'>): {
  clinic: ClinicId
  record: string
  sequence: number
} {
  const [clinic = '', record = '', sequence = ''] = sk.split('#')
  return { clinic: clinicIdOf(longId(clinic)), record: longId(record), sequence: Number(sequence) }
}
