import type { ClinicId } from '../../domain/clinic.ts'
import { type Key, partition, sortableNumber } from './key.ts'

export const clinicKey = (clinic: ClinicId): Key => ({ pk: partition(clinic, 'C'), sk: 'clinic' })

/** The holidays of a clinic. Each doctor has a copy. */
export const holidaysKey = (clinic: ClinicId): Key => ({ pk: partition(clinic, 'C'), sk: 'holidays' })

/** The credentials of a clinic, by key only. The credentials themselves have partitions of their own. */
export const clinicCredentialsPartition = (clinic: ClinicId): string => partition(clinic, 'K')

export const clinicCredentialKey = (clinic: ClinicId, key: string): Key => ({
  pk: clinicCredentialsPartition(clinic),
  sk: key,
})

export const doctorsPartition = (clinic: ClinicId): string => partition(clinic, 'DR')

export const doctorKey = (clinic: ClinicId, id: string): Key => ({ pk: doctorsPartition(clinic), sk: id })

/** Prefix of credential partitions. A request knows its credential's key before it knows its clinic. */
export const CREDENTIAL_PARTITION_PREFIX = 'credential#'

export const credentialKey = (key: string): Key => ({
  pk: `${CREDENTIAL_PARTITION_PREFIX}${key}`,
  sk: 'credential',
})

/**
 * Prefix of partitions with the use of credentials. Every request writes there, and the credential itself is in another
 * partition, so that no function needs the right to change a credential.
 */
export const USAGE_PARTITION_PREFIX = 'usage#'

const usagePartition = (key: string): string => `${USAGE_PARTITION_PREFIX}${key}`

/** Requests of one credential in one minute since the epoch. */
export const credentialMinuteKey = (key: string, minute: number): Key => ({
  pk: usagePartition(key),
  sk: `minute#${sortableNumber(minute)}`,
})

/** When a credential was last used. */
export const lastUseKey = (key: string): Key => ({ pk: usagePartition(key), sk: 'last' })

/** Every clinic's id, for the operator's `clinic list`; no request can read it. */
export const CLINIC_DIRECTORY_PARTITION = 'clinics'

export const clinicDirectoryKey = (clinic: ClinicId): Key => ({ pk: CLINIC_DIRECTORY_PARTITION, sk: clinic })
