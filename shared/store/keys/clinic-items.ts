/** The items of a clinic in the whole table: its partitions, and its items of the other families. */
import type { ClinicId } from '../../domain/clinic.ts'
import { CLINIC_DIRECTORY_PARTITION, CREDENTIAL_PARTITION_PREFIX, clinicKey, lastUseKey } from './clinics.ts'
import { DUE_PARTITION_PREFIX } from './due.ts'
import { type Key, shortId } from './key.ts'
import { PROVIDER_PARTITION_PREFIX } from './messages.ts'
import { clinicRestoreKey, importPartition, verificationKey } from './operator.ts'

/** The attributes of an item that say which clinic it belongs to, where its key does not. */
type Located = Key & { readonly c?: unknown; readonly clinic?: unknown }

/** The filter of a scan for every item of the clinic, and few others. The ledger of erasures stays. */
export const clinicItemsFilter = (clinic: ClinicId) => ({
  FilterExpression: 'contains(pk, :short) OR contains(sk, :short) OR sk = :id OR c = :id OR clinic.id = :id',
  ExpressionAttributeValues: { ':short': shortId(clinic), ':id': clinic },
})

/** Whether an item goes when its clinic is deleted: everything but the ledger of erasures. */
export function isClinicItem(clinic: ClinicId, { pk, sk, c, clinic: copied }: Located): boolean {
  const short = shortId(clinic)
  if (pk.startsWith(`${short}#`) || pk === importPartition(clinic)) return true
  if (pk === verificationKey('read', clinic).pk || pk === verificationKey('support', clinic).pk) return true
  if (pk === clinicRestoreKey(clinic).pk) return true
  if (pk.startsWith(DUE_PARTITION_PREFIX)) return sk.split(/[# ]/).includes(short)
  if (pk.startsWith(PROVIDER_PARTITION_PREFIX)) return c === clinic
  if (pk.startsWith(CREDENTIAL_PARTITION_PREFIX))
    return (copied as { id?: unknown } | undefined)?.id === clinic
  return pk === CLINIC_DIRECTORY_PARTITION && sk === clinic
}

/** Whether an item is what a deletion needs to find the clinic again after it was stopped. */
export const isNeededToDelete = (clinic: ClinicId, { pk }: Key, credentials: string): boolean =>
  pk === clinicKey(clinic).pk ||
  pk === credentials ||
  pk === CLINIC_DIRECTORY_PARTITION ||
  pk.startsWith(CREDENTIAL_PARTITION_PREFIX)

/** The partition with the use of a credential, which names no clinic. */
export const credentialUsePartition = (key: string): string => lastUseKey(key).pk
