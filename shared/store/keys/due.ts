import { clinicIdOf } from '../../domain/clinic.ts'
import type { Due } from '../../domain/due.ts'
import { type Key, longId, shortId } from './key.ts'

/** Prefix of what is swept over all clinics, every minute, by when it is due: a clinic's own partitions would cost a
 * read for each clinic there is. Ids only; spread, since all clinics write here. */
export const DUE_PARTITION_PREFIX = 'due#'

/**
 * The partitions of one family of due items, which share its writes: each takes 1,000 write units a second. They can be up
 * to 256: an item's partition follows from the last byte of its id, which is random.
 */
export function duePartitions(family: string, count: number) {
  const all = Array.from({ length: count }, (_, shard) => `${DUE_PARTITION_PREFIX}${family}#${shard}`)
  return { all, of: (id: string): string => all[Number.parseInt(id.slice(-2), 16) % count] ?? '' }
}

export const dueSortKey = ({ clinic, id, at }: Due): string =>
  `${dueTime(at)}#${shortId(clinic)}#${shortId(id)}`

const dueTime = (at: number): string => String(at).padStart(15, '0')

/** Sorts after every item that is due by then. */
export const dueUntil = (at: number): string => `${dueTime(at)}#~`

/** The inverse of a due item's sort key. */
export function parseDueKey({ sk }: Key): Due {
  const [at = '', clinic = '', id = ''] = sk.split('#')
  return { at: Number(at), clinic: clinicIdOf(longId(clinic)), id: longId(id) }
}
