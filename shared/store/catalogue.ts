/**
 * The catalogue of a clinic: departments, rooms, treatments and price lists, one partition for each kind. A clinic has at most
 * some hundreds of each, so a list is read as a whole and sorted in memory.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../domain/clinic.ts'
import { sortedByName } from './by-name.ts'
import { addToCount } from './catalogue-count.ts'
import { DEPARTMENTS, type EntryKind, PRICE_LISTS, ROOMS, TREATMENTS } from './catalogue-kinds.ts'
import { type Provenance, provenanceAttributes, provenanceOfItem } from './external-ids/provenance.ts'
import { catalogueVersionKey, importedRemovalKey } from './keys/operator.ts'
import { Changeset } from './table/changeset.ts'
import type { Table } from './table/table.ts'
import { readRecord } from './table/unreadable-record.ts'
import type { Item } from './table/write-requests.ts'

/** A record as it was read, with the version that a change of it is conditional on, and the number of its events, if there are any. */
export type StoredEntry<Entry> = Entry & Provenance & { readonly version: number; readonly events?: number }

/** A record to be written: a new one, or a change of the one that was read. The events of one that was removed continue. */
export type EntryChange<Entry> = {
  readonly before: StoredEntry<Entry> | null
  readonly after: Entry & Provenance & Pick<StoredEntry<Entry>, 'events'>
}

/** All records of a kind, to decide on a change of some. */
export type CatalogueState<Entry> = {
  readonly entries: readonly StoredEntry<Entry>[]
  /** Grows by one with each save; 0 before the first. */
  readonly version: number
}

export type CatalogueStore<Entry> = {
  readonly find: (clinic: ClinicId, id: string) => Promise<StoredEntry<Entry> | null>
  /** The records by id, without those that do not exist. */
  readonly findMany: (clinic: ClinicId, ids: readonly string[]) => Promise<Map<string, StoredEntry<Entry>>>
  /** All of the clinic, sorted by name, without regard to case and accents, then by id. */
  readonly list: (clinic: ClinicId) => Promise<StoredEntry<Entry>[]>
  /** As `list`, with the version that a save depends on if the saved record has to be consistent with the others. */
  readonly readState: (clinic: ClinicId) => Promise<CatalogueState<Entry>>
  /**
   * Writes whole records in one transaction: new ones, or changed ones as they were read.
   * @param version the version of the state that was read: no record was saved since
   * @param extendChanges adds one item to the transaction
   * @throws ConditionFailed when one was changed since it was read, or the version is another
   */
  readonly save: (
    clinic: ClinicId,
    changes: readonly EntryChange<Entry>[],
    version?: number,
    extendChanges?: (changes: Changeset) => void,
  ) => Promise<void>
  /** The state that imports left of records that were removed since, by id. */
  readonly findRemoved: (clinic: ClinicId, ids: readonly string[]) => Promise<Map<string, Provenance>>
  /**
   * Removes one, as it was read. The state that an import left of it is kept, so that a repeated import does not add it.
   * @throws ConditionFailed when it was changed since it was read
   */
  readonly remove: (clinic: ClinicId, before: StoredEntry<Entry>) => Promise<void>
}

/** More than a clinic has of any kind. */
const MAX_LISTED = 10_000

type Platform = { readonly table: Table }

function catalogueStore<Entry extends { readonly id: string; readonly name: string }>(
  { table }: Platform,
  { partitionOf, keyOf, encode, decode, announced }: EntryKind<Entry>,
): CatalogueStore<Entry> {
  const toEntry = (item: Item): StoredEntry<Entry> =>
    readRecord(item, item.sk, () => ({
      ...decode(item, item.sk),
      version: item.v ?? 0,
      ...(item.ev !== undefined && { events: item.ev }),
      ...provenanceOfItem(item),
    }))

  async function list(clinic: ClinicId): Promise<StoredEntry<Entry>[]> {
    const items = await table.query({ pk: partitionOf(clinic), limit: MAX_LISTED })
    return sortedByName(items.map(toEntry), ({ name }) => name)
  }

  const versionKeyOf = (clinic: ClinicId) => catalogueVersionKey(clinic, partitionOf(clinic))

  return {
    find: async (clinic, id) => {
      const item = await table.get(keyOf(clinic, id))
      return item ? toEntry(item) : null
    },
    findMany: async (clinic, ids) => {
      const items = await table.getMany([...new Set(ids)].map((id) => keyOf(clinic, id)))
      return new Map(items.map((item) => [item.sk, toEntry(item)]))
    },
    list,
    readState: async (clinic) => {
      // First, so that it is at most as new as the list.
      const state = await table.get(versionKeyOf(clinic))
      return { entries: await list(clinic), version: state?.v ?? 0 }
    },
    save: async (clinic, changes, version, extendChanges) => {
      const changeset = new Changeset(table, clinic)
      changeset.add(versionKeyOf(clinic), 'n', 1)
      if (version !== undefined) changeset.expectVersion(versionKeyOf(clinic), version)
      const isChanged = ({ before, after }: EntryChange<Entry>) =>
        !before || !isDeepStrictEqual(encode(before), encode(after))
      if (typeof announced === 'string' && changes.some(isChanged)) changeset.announceClinic(announced)
      for (const change of changes) {
        const { before, after } = change
        const hasEvent = changeset.emitsEvents && typeof announced === 'function' && isChanged(change)
        const events = (before?.events ?? after.events ?? 0) + (hasEvent ? 1 : 0)
        if (hasEvent) changeset.announce(after.id, events, announced(before, after))
        const item = {
          ...keyOf(clinic, after.id),
          ...encode(after),
          ...provenanceAttributes(after),
          ...(events > 0 && { ev: events }),
          v: (before?.version ?? 0) + 1,
        }
        changeset.put(item, before ? { version: before.version } : 'new')
      }
      const added = changes.filter(({ before }) => !before).length
      await addToCount(table, changeset, partitionOf(clinic), added)
      extendChanges?.(changeset)
      await changeset.commit()
    },
    findRemoved: async (clinic, ids) => {
      const items = await table.getMany(ids.map((id) => importedRemovalKey(clinic, id)))
      return new Map(items.map((item) => [item.r as string, provenanceOfItem(item)]))
    },
    remove: async (clinic, { id, version, imported }) => {
      const changeset = new Changeset(table, clinic)
      changeset.remove(keyOf(clinic, id), version)
      if (typeof announced === 'string') changeset.announceClinic(announced)
      if (imported !== undefined)
        changeset.put({
          ...importedRemovalKey(clinic, id),
          r: id,
          ...provenanceAttributes({ externalId: undefined, imported }),
        })
      await addToCount(table, changeset, partitionOf(clinic), -1)
      await table.transact(changeset.writes())
    },
  }
}

export const departmentStore = (platform: Platform) => catalogueStore(platform, DEPARTMENTS)

export const roomStore = (platform: Platform) => catalogueStore(platform, ROOMS)

export const treatmentStore = (platform: Platform) => catalogueStore(platform, TREATMENTS)

export const priceListStore = (platform: Platform) => catalogueStore(platform, PRICE_LISTS)
