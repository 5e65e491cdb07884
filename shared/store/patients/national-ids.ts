/**
 * Finds patients by their national id: an item for each, under a hash of the id with a secret of the clinic, so that the key
 * says nothing about it.
 */
import { createHmac } from 'node:crypto'
import type { ClinicId } from '../../domain/clinic.ts'
import type { CursorPage, NumberedPage } from '../../domain/lists/cursor.ts'
import { offsetOf, type PageRequest } from '../../domain/lists/paging.ts'
import type { Patient } from '../../domain/patients/patient.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import type { Key } from '../keys/key.ts'
import { nationalIdKey, nationalIdRange, nationalIdSecretKey } from '../keys/patients.ts'
import type { Changeset } from '../table/changeset.ts'
import { findSecret, requireSecret } from '../table/secret.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'
import { cursorAfter, patientStore } from './patients.ts'

/** More than share a national id, unless files have a placeholder in its place. */
const MAX_SHARING = 1_000_000

type Identified = Pick<Patient, 'id' | 'nationalId'> & { readonly ordinal: number }

export function nationalIds({ table }: { table: Table }) {
  /** A secret is made once and never changes. */
  const secrets = new Map<ClinicId, Uint8Array>()

  /** The secret as `read` finds it; null for a clinic none of whose patients ever had a national id. */
  async function secretOf<Found extends Uint8Array | null>(
    clinic: ClinicId,
    read: (table: Table, key: Key) => Promise<Found>,
  ): Promise<Found | Uint8Array> {
    const known = secrets.get(clinic)
    if (known) return known
    const secret = await read(table, nationalIdSecretKey(clinic))
    if (secret) secrets.set(clinic, secret)
    return secret
  }

  /** The item of a patient; null for one without a national id. */
  async function itemOf(clinic: ClinicId, { id, ordinal, nationalId }: Identified): Promise<Item | null> {
    if (nationalId === null) return null
    const hash = hashOf(nationalId, await secretOf(clinic, requireSecret))
    return { ...nationalIdKey(clinic, hash, id), o: ordinal }
  }

  /** Adds a new or changed national id to the transaction of its patient. */
  async function move(changes: Changeset, before: Identified | null, after: Identified): Promise<void> {
    if (before?.nationalId === after.nationalId) return
    const [old, current] = await Promise.all([
      before && itemOf(changes.clinic, before),
      itemOf(changes.clinic, after),
    ])
    if (old) changes.remove(old)
    if (current) changes.put(current)
  }

  /** The ordinals of the patients with a national id, most recently created first. */
  async function find(clinic: ClinicId, nationalId: string): Promise<number[]> {
    const secret = await secretOf(clinic, findSecret)
    if (!secret) return []
    const range = nationalIdRange(clinic, hashOf(nationalId, secret))
    const items = await table.query({ ...range, limit: MAX_SHARING })
    return items.map(({ o }) => o ?? 0).sort((a, b) => b - a)
  }

  return { itemOf, move, find }
}

const hashOf = (nationalId: string, secret: Uint8Array): string =>
  createHmac('sha256', secret).update(nationalId).digest('base64url')

/** Lists the patients who have exactly one national id, most recently created first. */
export function patientsByNationalId({ table }: { table: Table }) {
  const identified = nationalIds({ table })
  const patients = patientStore({ table })

  async function page(
    clinic: ClinicId,
    nationalId: string,
    request: PageRequest,
  ): Promise<NumberedPage<WithUpdatedAt<Patient>>> {
    const ordinals = await identified.find(clinic, nationalId)
    return { ...(await part(clinic, ordinals, offsetOf(request), request.limit)), total: ordinals.length }
  }

  /** At most `limit` of them who were created before the one at this cursor. */
  async function after(
    clinic: ClinicId,
    nationalId: string,
    cursor: string,
    limit: number,
  ): Promise<CursorPage<WithUpdatedAt<Patient>>> {
    const ordinals = await identified.find(clinic, nationalId)
    return part(
      clinic,
      ordinals.filter((ordinal) => ordinal < Number(cursor)),
      0,
      limit,
    )
  }

  async function part(clinic: ClinicId, ordinals: readonly number[], offset: number, limit: number) {
    const shown = ordinals.slice(offset, offset + limit)
    const next = offset + limit < ordinals.length ? cursorAfter(shown) : null
    return { items: await patients.findByOrdinals(clinic, shown), next }
  }

  return { page, after }
}
