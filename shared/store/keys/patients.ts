import type { ClinicId } from '../../domain/clinic.ts'
import { type Key, partition, sortableNumber } from './key.ts'

export const patientKey = (clinic: ClinicId, id: string): Key => ({ pk: partition(clinic, 'P'), sk: id })

/** Patients in order of creation, with dense ordinals 0..n-1, so that a page is a range. */
export const patientListPartition = (clinic: ClinicId): string => partition(clinic, 'PL')

export const patientRowKey = (clinic: ClinicId, ordinal: number): Key => ({
  pk: patientListPartition(clinic),
  sk: sortableNumber(ordinal),
})

/** The number of patients, and the state of the search segments. */
export const patientHeadKey = (clinic: ClinicId): Key => ({ pk: partition(clinic, 'PH'), sk: 'head' })

/** Writers of the head that wait for their turns. */
export const patientTurnsKey = (clinic: ClinicId): Key => ({ pk: partition(clinic, 'PH'), sk: 'turns' })

/** A part of search segment `index`. A segment has as many parts as its size requires. */
export const patientSegmentPartition = (clinic: ClinicId, index: number): string =>
  partition(clinic, `PS#${index}`)

export const patientSegmentKey = (clinic: ClinicId, index: number, part: number): Key => ({
  pk: patientSegmentPartition(clinic, index),
  sk: String(part).padStart(2, '0'),
})

/** Which patient the update with this number changed. */
export const patientChangesPartition = (clinic: ClinicId): string => partition(clinic, 'PC')

export const patientChangeKey = (clinic: ClinicId, update: number): Key => ({
  pk: patientChangesPartition(clinic),
  sk: sortableNumber(update),
})
