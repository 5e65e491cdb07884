/**
 * Links of external ids to records that no import made, such as patients who were created by the API. A link is an item under the id
 * that an import would have given to the record, which does not reveal the external id. Links are read by key, and have nothing
 * in common that two transactions would both write.
 */
import type { ClinicId } from '../../domain/clinic.ts'
import type { NumberedPage } from '../../domain/lists/cursor.ts'
import { isUuid } from '../../domain/uuid.ts'
import { calendarKey } from '../keys/calendar.ts'
import { doctorKey } from '../keys/clinics.ts'
import {
  externalIdLinkKey,
  externalIdSecretKey,
  formerExternalIdKey,
  formerExternalIdRange,
  parseFormerExternalIdKey,
} from '../keys/external-ids.ts'
import type { Key } from '../keys/key.ts'
import { patientKey } from '../keys/patients.ts'
import type { Changeset } from '../table/changeset.ts'
import { ExternalIdTaken } from '../table/errors.ts'
import { findSecret, requireSecret } from '../table/secret.ts'
import type { Table } from '../table/table.ts'
import { formsOf, type ImportedKind, type ImportIds, importIdsOf } from './derive.ts'

/** The records that can be linked, with their keys. */
export const LINKABLE = {
  patient: patientKey,
  doctor: doctorKey,
  appointment: (clinic: ClinicId, id: string): Key => calendarKey(clinic, 'A', id),
} satisfies { readonly [Kind in ImportedKind]?: (clinic: ClinicId, id: string) => Key }

export type LinkableKind = keyof typeof LINKABLE

export const isLinkable = (kind: ImportedKind): kind is LinkableKind => Object.hasOwn(LINKABLE, kind)

/** Pages of a list that has the one record with an external id, or none. */
export function pageByExternalId<R extends { readonly externalId: string | null }>(
  table: Table,
  kind: LinkableKind,
  read: (clinic: ClinicId, id: string) => Promise<R | null>,
) {
  const { find } = externalIds({ table })
  return async (clinic: ClinicId, externalId: string): Promise<NumberedPage<R>> => {
    const id = await find(clinic, kind, externalId)
    const record = id === null ? null : await read(clinic, id)
    const items = record?.externalId && formsOf(externalId).has(record.externalId) ? [record] : []
    return { items, total: items.length, next: null }
  }
}

/** More than one record has had. */
const MAX_FORMER = 1_000_000

/** The records that are linked to external ids, by the ids that are derived from these. */
export async function findLinks(
  table: Table,
  clinic: ClinicId,
  derivedIds: Iterable<string>,
): Promise<Map<string, string>> {
  const keys = [...new Set(derivedIds)].map((id) => externalIdLinkKey(clinic, id))
  return new Map((await table.getMany(keys)).map(({ sk, r }) => [sk, r as string]))
}

/** A record, and the external id that it has. */
type Identified = { readonly id: string; readonly externalId?: string | null }

export function externalIds({ table }: { table: Table }) {
  /** A secret is made once and never changes. */
  const known = new Map<ClinicId, ImportIds>()

  function idsFrom(clinic: ClinicId, secret: Uint8Array): ImportIds {
    const ids = importIdsOf(secret)
    known.set(clinic, ids)
    return ids
  }

  const idsOf = async (clinic: ClinicId): Promise<ImportIds> =>
    known.get(clinic) ?? idsFrom(clinic, await requireSecret(table, externalIdSecretKey(clinic)))

  /** The id of the record that has an external id, or whose own id it is; null if there is none. */
  async function find(clinic: ClinicId, kind: LinkableKind, externalId: string): Promise<string | null> {
    const secret = known.has(clinic) ? null : await findSecret(table, externalIdSecretKey(clinic))
    const ids = secret ? idsFrom(clinic, secret) : known.get(clinic)
    // Without a secret, no record of the clinic ever had an external id.
    if (!ids) return null
    for (const form of formsOf(externalId)) {
      const { holder } = await readState(clinic, kind, form, ids(kind, form))
      if (holder !== null) return holder
    }
    return null
  }

  /** @throws ExternalIdTaken when a record has the external id, or it is the id of one */
  async function requireFree(clinic: ClinicId, kind: LinkableKind, externalId: string): Promise<void> {
    const holder = await find(clinic, kind, externalId)
    if (holder !== null) throw new ExternalIdTaken(holder)
  }

  /**
   * The record that has an external id, or whose own id it is: files mean that record by it. And the version of the one that an
   * import made, or would make, with it.
   */
  async function readState(clinic: ClinicId, kind: LinkableKind, externalId: string, derived: string) {
    const ownKey = isUuid(externalId) ? LINKABLE[kind](clinic, externalId.toLowerCase()) : null
    const [link, record, own] = await Promise.all([
      table.get(externalIdLinkKey(clinic, derived)),
      table.get(LINKABLE[kind](clinic, derived)),
      ownKey && table.get(ownKey),
    ])
    const holder = link?.r ?? (record?.xi === externalId ? derived : (own?.sk ?? null))
    return { holder, version: record?.v ?? null, ownKey }
  }

  /** The link of a record; null if its id follows from its external id, or it has none. */
  async function linkOf(clinic: ClinicId, kind: LinkableKind, { id, externalId }: Identified) {
    if (externalId == null) return null
    const derived = (await idsOf(clinic))(kind, externalId)
    return derived === id ? null : { ...externalIdLinkKey(clinic, derived), r: id }
  }

  /**
   * Adds a new or changed external id to the transaction of its record. That a patient had another one is stored for an erasure,
   * after which imports must not create the patient again.
   * @throws ExternalIdTaken
   */
  async function move(
    changes: Changeset,
    kind: LinkableKind,
    id: string,
    before: string | null,
    after: string | null,
  ): Promise<void> {
    if (before === after) return
    const { clinic } = changes
    const old = await linkOf(clinic, kind, { id, externalId: before })
    if (old) {
      changes.remove(old)
      if (kind === 'patient') changes.put(formerExternalIdKey(clinic, id, old.sk))
    }
    if (after === null) return
    const derived = (await idsOf(clinic))(kind, after)
    const { version, ownKey, ...state } = await readState(clinic, kind, after, derived)
    const holder = state.holder ?? (formsOf(after).size > 1 ? await find(clinic, kind, after) : null)
    if (holder !== null && holder !== id) throw new ExternalIdTaken(holder)
    if (ownKey && ownKey.sk !== id) changes.requireVersion(ownKey, null)
    const key = externalIdLinkKey(clinic, derived)
    if (derived === id) return changes.requireVersion(key, null)
    changes.put({ ...key, r: id }, 'new')
    changes.requireVersion(LINKABLE[kind](clinic, derived), version)
  }

  /**
   * The ids that imports would derive from the external ids that a patient is linked to, or was. One that was linked to another
   * patient since is that patient's.
   */
  async function linkedIdsOf(clinic: ClinicId, patient: Identified): Promise<string[]> {
    const [link, former] = await Promise.all([
      linkOf(clinic, 'patient', patient),
      table.query({ ...formerExternalIdRange(clinic, patient.id), limit: MAX_FORMER }),
    ])
    const ids = new Set([...(link ? [link.sk] : []), ...former.map(parseFormerExternalIdKey)])
    const links = await findLinks(table, clinic, ids)
    return [...ids].filter((id) => (links.get(id) ?? patient.id) === patient.id)
  }

  return { find, requireFree, linkOf, move, linkedIdsOf }
}
