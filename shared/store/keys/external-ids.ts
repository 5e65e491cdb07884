import type { ClinicId } from '../../domain/clinic.ts'
import { type Key, partition } from './key.ts'

/** The secret from which the ids that external ids stand for are derived. */
export const externalIdSecretKey = (clinic: ClinicId): Key => ({ pk: partition(clinic, 'XS'), sk: 'secret' })

export const externalIdLinksPartition = (clinic: ClinicId): string => partition(clinic, 'X')

/** The record that is linked to the external id from which an id is derived. */
export const externalIdLinkKey = (clinic: ClinicId, derivedId: string): Key => ({
  pk: externalIdLinksPartition(clinic),
  sk: derivedId,
})

/** An id that is derived from an external id which a record had. */
export const formerExternalIdKey = (clinic: ClinicId, record: string, derivedId: string): Key => ({
  pk: partition(clinic, 'XF'),
  sk: `${record}#${derivedId}`,
})

/** The items of all external ids that a record had. */
export const formerExternalIdRange = (clinic: ClinicId, record: string) => ({
  pk: partition(clinic, 'XF'),
  from: `${record}#`,
  to: `${record}#~`,
})

/** The derived id of such an item. */
export const parseFormerExternalIdKey = ({ sk }: Key): string => sk.slice(sk.indexOf('#') + 1)
