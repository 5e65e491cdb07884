import type { ClinicId } from '../../domain/clinic.ts'
import { DUE_PARTITION_PREFIX, duePartitions, dueSortKey, parseDueKey } from './due.ts'
import { type Key, partition } from './key.ts'

/** The owner of a name or of contacts that other records copy. */
export const patientOwner = (id: string): string => `patient#${id}`

export const doctorOwner = (id: string): string => `doctor#${id}`

/** The owner of the holidays that doctors copy: the clinic itself. */
export const holidaysOwner = (clinic: ClinicId): string => `holidays#${clinic}`

export function parseOwner(owner: string): { kind: 'patient' | 'doctor' | 'holidays'; id: string } {
  const [kind, id = ''] = owner.split('#')
  return { kind: kind === 'doctor' || kind === 'holidays' ? kind : 'patient', id }
}

/** Marks of stale copies, one item for each owner (copies/copied-names.ts). */
export const staleCopiesPartition = (clinic: ClinicId): string => partition(clinic, 'F')

export const staleCopiesKey = (clinic: ClinicId, owner: string): Key => ({
  pk: staleCopiesPartition(clinic),
  sk: owner,
})

/** Prefix of the partitions of owners whose copies a sweep refreshes. */
export const DUE_REFRESH_PARTITION_PREFIX = `${DUE_PARTITION_PREFIX}copies#`

const DUE_REFRESHES = duePartitions('copies', 8)

export const DUE_REFRESH_PARTITIONS = DUE_REFRESHES.all

/** Longer than a writer takes to refresh the copies itself, and than a transaction is attempted. */
export const REFRESH_SWEEP_DELAY_MS = 60_000

/** An owner whose copies a sweep refreshes from `at` on, if nothing else has. */
export type DueRefresh = { readonly clinic: ClinicId; readonly owner: string; readonly at: number }

export function dueRefreshKey({ clinic, owner, at }: DueRefresh): Key {
  const { kind, id } = parseOwner(owner)
  return { pk: DUE_REFRESHES.of(id), sk: `${dueSortKey({ clinic, id, at })}#${kind}` }
}

/** The inverse of {@link dueRefreshKey}. */
export function parseDueRefreshKey(key: Key): DueRefresh {
  const { clinic, id, at } = parseDueKey(key)
  return { clinic, owner: `${key.sk.slice(key.sk.lastIndexOf('#') + 1)}#${id}`, at }
}
