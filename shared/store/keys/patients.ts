import type { ClinicId } from '../../domain/clinic.ts'
import { type Key, partition, shortId, sortableNumber } from './key.ts'

export const patientKey = (clinic: ClinicId, id: string): Key => ({ pk: partition(clinic, 'P'), sk: id })

/** Patients in order of creation, with dense ordinals 0..n-1, so that a page is a range. */
export const patientListPartition = (clinic: ClinicId): string => partition(clinic, 'PL')

export const patientRowKey = (clinic: ClinicId, ordinal: number): Key => ({
  pk: patientListPartition(clinic),
  sk: sortableNumber(ordinal),
})

/** The number of patients, and the state of the search segments. */
export const patientHeadKey = (clinic: ClinicId): Key => ({ pk: partition(clinic, 'PH'), sk: 'head' })

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

/** Which patients are inactive, in parts of consecutive ordinals. */
export const inactivePatientsPartition = (clinic: ClinicId): string => partition(clinic, 'PI')

export const inactivePatientsKey = (clinic: ClinicId, part: number): Key => ({
  pk: inactivePatientsPartition(clinic),
  sk: sortableNumber(part),
})

/** Patients by the hash of their national id. */
export const nationalIdsPartition = (clinic: ClinicId): string => partition(clinic, 'PN')

export const nationalIdKey = (clinic: ClinicId, hash: string, patient: string): Key => ({
  pk: nationalIdsPartition(clinic),
  sk: `${hash}#${shortId(patient)}`,
})

/** The patients that share one hash. */
export const nationalIdRange = (clinic: ClinicId, hash: string) => ({
  pk: nationalIdsPartition(clinic),
  from: `${hash}#`,
  to: `${hash}#~`,
})

export const nationalIdSecretKey = (clinic: ClinicId): Key => ({
  pk: partition(clinic, 'PNS'),
  sk: 'secret',
})
