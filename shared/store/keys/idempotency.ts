import type { ClinicId } from '../../domain/clinic.ts'
import { type Key, partition } from './key.ts'

/** Answers kept for repetitions, by credential, route and the caller's own key. */
export const storedResponsesPartition = (clinic: ClinicId): string => partition(clinic, 'R')

export const storedResponseKey = (
  clinic: ClinicId,
  credential: string,
  route: string,
  hash: string,
): Key => ({
  pk: storedResponsesPartition(clinic),
  sk: `${credential}#${route}#${hash}`,
})
