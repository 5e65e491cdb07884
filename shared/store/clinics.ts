import { type Clinic, type ClinicId, clinicIdOf } from '../domain/clinic.ts'
import { CURRENCIES } from '../domain/money/currencies.ts'
import { offsetAt, TABLE_START } from '../domain/time-zone.ts'
import { isUuid } from '../domain/uuid.ts'
import { CLINIC_DIRECTORY_PARTITION, clinicDirectoryKey, clinicKey } from './keys/clinics.ts'
import { externalIdSecretKey } from './keys/external-ids.ts'
import { partitionParts } from './keys/key.ts'
import { EMPTY_HEAD, patientHeadItem } from './patients/head.ts'
import {
  codec,
  flag,
  list,
  number,
  object,
  optional,
  optionalText,
  requireTypes,
  text,
  texts,
} from './table/attributes.ts'
import { Changeset } from './table/changeset.ts'
import { ConditionFailed, ifConditionHolds } from './table/errors.ts'
import { toUpdateParts } from './table/item-update.ts'
import { newClinicSecret, secretItem } from './table/secret.ts'
import type { Table } from './table/table.ts'
import { readRecord, UnreadableRecord } from './table/unreadable-record.ts'
import type { Item, UpdateParts, Write } from './table/write-requests.ts'

/** A clinic as it was read, with the version that changes of it, and copies of its settings, depend on. */
export type StoredClinic = Clinic & {
  readonly version: number
  /** The key of hashes of the clinic's recipients and imported files, never shown. Every erasure replaces it. */
  readonly recipientSecret: string
}

/** The clinic is being deleted, or no longer exists. */
export class ClinicBeingDeleted extends Error {
  readonly clinic: ClinicId
  readonly isDeleted: boolean
  constructor(clinic: ClinicId, isDeleted: boolean) {
    super(`clinic ${clinic} ${isDeleted ? 'does not exist' : 'is being deleted'}`)
    this.clinic = clinic
    this.isDeleted = isDeleted
  }
}

/** New values of a clinic's settings. Null removes an optional one, so that its default applies. */
export type ClinicChanges = {
  readonly [Name in keyof Omit<
    Clinic,
    'id' | 'createdAt' | 'deletingAt' | 'isTest'
  >]?: undefined extends Clinic[Name] ? Clinic[Name] | null : Clinic[Name]
}

/** Clinics and their settings. Only the operator creates and changes them. */
export function clinicStore({ table }: { table: Table }) {
  /**
   * Creates a clinic, with the secret from which the ids of its imported records are derived.
   * @throws ConditionFailed when the id is taken
   */
  async function create(clinic: Clinic, importSecret = newClinicSecret()): Promise<void> {
    await table.transact([
      table.putWrite(
        { ...clinicKey(clinic.id), ...clinic, recipientSecret: newRecipientSecret(), v: 1 },
        'new',
      ),
      table.putWrite({ ...clinicDirectoryKey(clinic.id) }),
      table.putWrite(patientHeadItem(clinic.id, EMPTY_HEAD), 'new'),
      table.putWrite(secretItem(externalIdSecretKey(clinic.id), importSecret), 'new'),
    ])
  }

  async function find(id: ClinicId): Promise<StoredClinic | null> {
    const item = await table.get(clinicKey(id))
    return item ? toClinic(item) : null
  }

  /** @throws UnreadableRecord also if the settings of a clinic in the directory are missing: a deletion removes both together */
  async function findListed(id: ClinicId): Promise<StoredClinic | null> {
    const clinic = await find(id)
    if (!clinic && (await table.get(clinicDirectoryKey(id))))
      throw new UnreadableRecord(clinicKey(id), id, 'missing')
    return clinic
  }

  /** The ids of all clinics, ascending, and the rows of the directory that are none. */
  async function directory(): Promise<{ readonly ids: ClinicId[]; readonly stray: string[] }> {
    const rows = await table.query({ pk: CLINIC_DIRECTORY_PARTITION, limit: 1_000_000 })
    const { ids = [], stray = [] } = Object.groupBy(
      rows.map(({ sk }) => sk),
      (sk) => (isUuid(sk) ? 'ids' : 'stray'),
    )
    return { ids: ids.map(clinicIdOf), stray }
  }

  /** Every clinic, by name. @throws UnreadableRecord */
  async function list(): Promise<StoredClinic[]> {
    const items = await table.getMany((await directory()).ids.map(clinicKey))
    return items.map(toClinic).sort(byName)
  }

  /** Every clinic, by name, and the ids of those whose settings cannot be read. */
  async function listReadable() {
    const { ids } = await directory()
    const clinics = (await table.getMany(ids.map(clinicKey))).flatMap((item) => {
      try {
        return [toClinic(item)]
      } catch {
        return []
      }
    })
    const readable = new Set(clinics.map(({ id }) => id))
    return { clinics: clinics.sort(byName), unreadable: ids.filter((id) => !readable.has(id)) }
  }

  /**
   * Changes some settings, and no others: two changes at the same time both take effect. The changed clinic; copies
   * of its settings in credentials are refreshed by credentialStore.refreshClinic.
   * @param isAnnounced whether an event says that settings were changed, as it does not of a pause or a restore
   * @throws ClinicBeingDeleted when there is no such clinic, or it is being deleted
   */
  async function update(id: ClinicId, settings: ClinicChanges, isAnnounced = false): Promise<StoredClinic> {
    const given = Object.entries(settings).filter(([, value]) => value !== undefined)
    const set = new Map(given.map(([name, value]) => [name, value ?? undefined]))
    const parts = toUpdateParts({ key: clinicKey(id), add: new Map(), set }) as UpdateParts
    const changes = new Changeset(table, id)
    if (isAnnounced) changes.announceClinic('settings')
    await updateUnlessDeleting(table, id, parts, changes.writes())
    return toClinic((await table.get(clinicKey(id))) as Item)
  }

  /** Makes the hashes useless: the counts of messages to each recipient begin again. Does nothing for a deleted clinic. */
  async function replaceRecipientSecret(id: ClinicId): Promise<void> {
    const update = table.update(clinicKey(id), {
      UpdateExpression: 'SET recipientSecret = :secret',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':secret': newRecipientSecret() },
    })
    await ifConditionHolds(update)
  }

  /**
   * Marks a clinic as being deleted, and paused, from now on. State that was read before is no longer reliable: its version
   * changes. The time of the first call stays.
   * @throws ClinicBeingDeleted when there is no such clinic
   */
  async function beginDeletion(id: ClinicId, deletingAt: string): Promise<StoredClinic> {
    try {
      return toClinic(
        (await updateUnlessDeleting(table, id, {
          UpdateExpression: 'ADD v :one SET deletingAt = :at, pausedAt = if_not_exists(pausedAt, :at)',
          ExpressionAttributeValues: { ':one': 1, ':at': deletingAt },
          ReturnValues: 'ALL_NEW',
        })) as Item,
      )
    } catch (error) {
      const clinic = error instanceof ClinicBeingDeleted ? await find(id) : null
      if (!clinic) throw error
      return clinic
    }
  }

  /** The clinic, to which records may be added. @throws ClinicBeingDeleted */
  async function requireNotDeleting(id: ClinicId): Promise<StoredClinic> {
    const clinic = await find(id)
    if (clinic === null || clinic.deletingAt !== undefined) throw new ClinicBeingDeleted(id, clinic === null)
    return clinic
  }

  /** The paused ones of some clinics. A pause of a moment ago may be missing. */
  async function pausedOf(ids: readonly ClinicId[]): Promise<ReadonlySet<ClinicId>> {
    const items = await table.getMany(ids.map(clinicKey), { eventual: true })
    return new Set(
      items.flatMap(({ id, pausedAt }) => (pausedAt === undefined ? [] : [clinicIdOf(String(id))])),
    )
  }

  return {
    create,
    find,
    findListed,
    requireNotDeleting,
    directory,
    list,
    listReadable,
    update,
    replaceRecipientSecret,
    beginDeletion,
    pausedOf,
  }
}

/** Updates a clinic that is not being deleted. @throws ClinicBeingDeleted */
async function updateUnlessDeleting(
  table: Table,
  id: ClinicId,
  parts: UpdateParts,
  others: readonly Write[] = [],
) {
  const conditional = {
    ...parts,
    ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(deletingAt)',
  }
  try {
    if (others.length === 0) return await table.update(clinicKey(id), conditional)
    return await table.transact([table.updateWrite(clinicKey(id), conditional), ...others])
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    throw new ClinicBeingDeleted(id, (await table.get(clinicKey(id))) === undefined)
  }
}

const byName = (a: Clinic, b: Clinic): number => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1)

export const newRecipientSecret = (): string => Buffer.from(newClinicSecret()).toString('base64url')

const SETTINGS = [
  ...['name', 'timezone', 'currency', 'createdAt'].map(text),
  number('appointmentMinutes'),
  ...['pausedAt', 'deletingAt', 'pauseInEffectAt', 'address', 'phoneNumber', 'emailAddress', 'website']
    .concat('emailFromName', 'replyTo')
    .map(optionalText),
  ...['smsPerDay', 'emailsPerDay', 'messagesPerRecipient'].map((name) => optional(number(name))),
  optional(flag('isTest')),
  optional(list('restores', codec({ to: text('to'), endedAt: text('endedAt') }))),
  optional(object('restoring', codec({ from: text('from') }))),
  optional(object('replacement', codec({ table: text('table') }))),
  optional(texts('smsCountries')),
]

/** @throws UnreadableRecord for settings that no clinic can have */
export const toClinic = (item: Item): StoredClinic =>
  readRecord(item, String(item.id ?? partitionParts(item.pk).clinic), () => {
    const { pk, sk, v, ...clinic } = item
    if (clinic.id !== partitionParts(pk).clinic) throw new RangeError('attribute id is not the clinic')
    requireTypes(clinic, SETTINGS)
    // Throws for an unknown time zone.
    offsetAt(TABLE_START, clinic.timezone as string)
    if (!CURRENCIES.includes(clinic.currency as string)) throw new RangeError('the currency is unknown')
    return { ...(clinic as Omit<StoredClinic, 'version'>), version: number('v').decode(v) }
  })
