/**
 * Every key of the single table, and nothing else makes one.
 *
 * A clinic's items live in partitions that begin with the clinic's short id, so a key cannot be built without a
 * clinic and one clinic's query can never reach another's partition. Only the families at the end are keyed
 * otherwise, each with its reason.
 */
import type { ClinicId } from '../domain/clinic.ts'

/** The attribute by which DynamoDB deletes an item some time after the second it names. */
export const TTL = 'ttl'

export type Key = { readonly pk: string; readonly sk: string }

/** Ordinals and counters as sort keys: ten digits keep their order as text. */
export const sortableNumber = (value: number): string => String(value).padStart(10, '0')

/** The 16 bytes of a UUID in 22 characters: ids are a third of a small row's bytes, and bytes are what reads cost. */
export const shortId = (uuid: string): string =>
  Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('base64url')

const partition = (clinic: ClinicId, family: string): string => `${shortId(clinic)}#${family}`

export const clinicKey = (clinic: ClinicId): Key => ({ pk: partition(clinic, 'C'), sk: 'clinic' })

/** Which credentials a clinic has; the credentials themselves are found by their own key. */
export const clinicCredentialsPartition = (clinic: ClinicId): string => partition(clinic, 'K')
export const clinicCredentialKey = (clinic: ClinicId, key: string): Key => ({
  pk: clinicCredentialsPartition(clinic),
  sk: key,
})

export const doctorsPartition = (clinic: ClinicId): string => partition(clinic, 'DR')
export const doctorKey = (clinic: ClinicId, id: string): Key => ({ pk: doctorsPartition(clinic), sk: id })

export const patientKey = (clinic: ClinicId, id: string): Key => ({ pk: partition(clinic, 'P'), sk: id })

/** Patients in order of entry: dense ordinals 0..n-1, so that a page is a range. */
export const patientListPartition = (clinic: ClinicId): string => partition(clinic, 'PL')
export const patientRowKey = (clinic: ClinicId, ordinal: number): Key => ({
  pk: patientListPartition(clinic),
  sk: sortableNumber(ordinal),
})

/** How many patients there are, and how far the search segments have followed. */
export const patientHeadKey = (clinic: ClinicId): Key => ({ pk: partition(clinic, 'PH'), sk: 'head' })

/** Search segment `index`, in as many parts as its bytes need. */
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

// Families outside a clinic's partitions.

/** Prefix of credential partitions. A request knows its credential's key before it knows its clinic. */
export const CREDENTIAL_PARTITIONS = 'credential#'
export const credentialKey = (key: string): Key => ({
  pk: `${CREDENTIAL_PARTITIONS}${key}`,
  sk: 'credential',
})
/** Requests of one credential in one minute since the epoch. */
export const credentialMinuteKey = (key: string, minute: number): Key => ({
  pk: `${CREDENTIAL_PARTITIONS}${key}`,
  sk: `minute#${sortableNumber(minute)}`,
})

/** Every clinic's id and name, for the operator's `clinic list`; no request reads it. */
export const CLINIC_DIRECTORY = 'clinics'
export const clinicDirectoryKey = (clinic: ClinicId): Key => ({ pk: CLINIC_DIRECTORY, sk: clinic })
