/**
 * Links of external ids to records that no import made, such as patients who were created by the API. A link is stored under the id
 * that an import would have given to the record, which does not reveal the external id.
 */
import type { ClinicId } from '../../domain/clinic.ts'
import type { Key } from '../keys/key.ts'
import {
  formerLinkKey,
  formerLinkRange,
  importLinkKey,
  importLinkRange,
  importLinksKey,
  linkedIdOf,
} from '../keys/operator.ts'
import { Changeset } from '../table/changeset.ts'
import type { Table } from '../table/table.ts'
import { type Provenance, setProvenance } from './provenance.ts'

export type ImportLinks = {
  /** The linked records, by the id that their external id has without the link. */
  readonly byDerivedId: ReadonlyMap<string, string>
  /** Changes with every link; 0 if the clinic has never had any. */
  readonly version: number
}

/** A clinic has few: each is made by a command of its own. */
const MAX_LINKS = 1_000_000

/** The links of a clinic. One query, of nothing in a clinic without links. */
export async function readImportLinks(table: Table, clinic: ClinicId): Promise<ImportLinks> {
  const items = await table.query({ ...importLinkRange(clinic), limit: MAX_LINKS })
  const links = items.flatMap((item): [string, string][] => {
    const derived = linkedIdOf(item)
    return derived === null ? [] : [[derived, item.r as string]]
  })
  const { sk } = importLinksKey(clinic)
  const head = items.find((item) => item.sk === sk)
  return { byDerivedId: new Map(links), version: (head?.v as number | undefined) ?? 0 }
}

/**
 * The ids that imports would derive from the external ids that a record is linked to, or was until its links were removed. If one
 * was linked to another record since, it is that record's.
 */
export async function linkedIdsOf(table: Table, clinic: ClinicId, record: string): Promise<string[]> {
  const [links, former] = await Promise.all([
    readImportLinks(table, clinic),
    table.query({ ...formerLinkRange(clinic), limit: MAX_LINKS }),
  ])
  const present = [...links.byDerivedId].filter(([, linked]) => linked === record).map(([derived]) => derived)
  const removed = former.filter(({ r }) => r === record).map(({ d }) => d as string)
  return [...present, ...removed]
}

/** The records that are linked to an external id, or were. */
export async function everLinkedIds(table: Table, clinic: ClinicId): Promise<string[]> {
  const [links, former] = await Promise.all([
    readImportLinks(table, clinic),
    table.query({ ...formerLinkRange(clinic), limit: MAX_LINKS }),
  ])
  return [...new Set([...links.byDerivedId.values(), ...former.map(({ r }) => r as string)])]
}

/** A record as it was read. */
export type LinkableRecord = Provenance & {
  readonly id: string
  readonly key: Key
  readonly version: number
}

/**
 * Links an external id to a record.
 * @param derived the id and key of the record that an import of the external id would make, which must not exist
 * @throws ConditionFailed when the external id is linked or imported already, or the record was changed since it was read
 */
export async function linkRecord(
  table: Table,
  clinic: ClinicId,
  { key, id, version, imported }: LinkableRecord,
  externalId: string,
  derived: { readonly id: string; readonly key: Key },
): Promise<void> {
  const changes = new Changeset(table, clinic)
  changes.put({ ...importLinkKey(clinic, derived.id), r: id }, 'new')
  changes.requireVersion(derived.key, null)
  changes.remove(formerLinkKey(clinic, derived.id))
  countLink(changes)
  setProvenance(changes, key, version, { externalId, ...(imported !== undefined && { imported }) })
  await changes.commit()
}

/**
 * Removes the link of a record to its external id, and what was imported by it. That there was one is kept for an erasure of the
 * record, after which imports must not create it again.
 * @throws ConditionFailed when there is no such link, or the record was changed since it was read
 */
export async function unlinkRecord(
  table: Table,
  clinic: ClinicId,
  { id, key, version }: LinkableRecord,
  derivedId: string,
): Promise<void> {
  const changes = new Changeset(table, clinic)
  changes.remove(importLinkKey(clinic, derivedId), 'existing')
  changes.put({ ...formerLinkKey(clinic, derivedId), d: derivedId, r: id })
  countLink(changes)
  setProvenance(changes, key, version, {})
  await changes.commit()
}

const countLink = (changes: Changeset): void => changes.add(importLinksKey(changes.clinic), 'n', 1)
