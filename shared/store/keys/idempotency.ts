import type { ClinicId } from '../../domain/clinic.ts'
import { type Key, partition } from './key.ts'

/** Stored responses, by credential, route and idempotency key. */
export const storedResponsesPartition = (clinic: ClinicId): string => partition(clinic, 'R')

export const storedResponseRoute = ({ sk }: Key): string => sk.split('#')[1] ?? ''

export const storedResponseKey = (
  clinic: ClinicId,
  credential: string,
  route: string,
  hash: string,
): Key => ({
  pk: storedResponsesPartition(clinic),
  sk: `${credential}#${route}#${hash}`,
})
