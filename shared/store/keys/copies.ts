import type { ClinicId } from '../../domain/clinic.ts'
import { type Key, partition } from './key.ts'

/** The owner of a name or of contacts that other records copy. */
export const patientOwner = (id: string): string => `patient#${id}`

export const doctorOwner = (id: string): string => `doctor#${id}`

export function parseOwner(owner: string): { kind: 'patient' | 'doctor'; id: string } {
  const [kind, id = ''] = owner.split('#')
  return { kind: kind === 'doctor' ? 'doctor' : 'patient', id }
}

/** Marks of stale copies, one item for each owner (copies/copied-names.ts). */
export const staleCopiesPartition = (clinic: ClinicId): string => partition(clinic, 'F')

export const staleCopiesKey = (clinic: ClinicId, owner: string): Key => ({
  pk: staleCopiesPartition(clinic),
  sk: owner,
})
