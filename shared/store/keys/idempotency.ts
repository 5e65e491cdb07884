import type { ClinicId } from '../../domain/clinic.ts'
import { type Key, partition } from './key.ts'

/** Answers kept for repetitions, by credential, route and the caller's own key. */
export const keptAnswersPartition = (clinic: ClinicId): string => partition(clinic, 'R')

export const keptAnswerKey = (clinic: ClinicId, credential: string, route: string, hash: string): Key => ({
  pk: keptAnswersPartition(clinic),
  sk: `${credential}#${route}#${hash}`,
})
