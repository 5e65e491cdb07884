import type { ClinicId } from '../../domain/clinic.ts'
import type { CursorPage, NumberedPage } from '../../domain/lists/cursor.ts'
import { descendingOrdinals, type PageRequest } from '../../domain/lists/paging.ts'
import { GENDERS, type Patient } from '../../domain/patients/patient.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import { pageByExternalId } from '../external-ids/links.ts'
import { type Provenance, provenanceAttributes, provenanceOfItem } from '../external-ids/provenance.ts'
import { type Key, sortableNumber } from '../keys/key.ts'
import { patientKey, patientListPartition, patientRowKey } from '../keys/patients.ts'
import {
  type AttributeMap,
  choice,
  instant,
  isListed,
  nullable,
  optional,
  recordCodec,
  text,
  trueByDefault,
  unlisted,
} from '../table/attributes.ts'
import { changeIndexReader } from '../table/change-index.ts'
import type { Table } from '../table/table.ts'
import { withUpdatedAtCodec } from '../table/updated-at-codec.ts'
import type { Item } from '../table/write-requests.ts'
import { readPatientHead } from './head.ts'

export type ImportedPatient = Patient & Provenance

/** A patient with its ordinal: its position in order of creation. */
export type StoredPatient = WithUpdatedAt<ImportedPatient> & {
  readonly ordinal: number
  readonly version: number
  /** The number of its events so far. */
  readonly events: number
}

/** Reads patients. The writer is patient-writer.ts. */
export function patientStore({ table }: { table: Table }) {
  /** Null for an unknown id, which includes the ids of other clinics. */
  async function find(clinic: ClinicId, id: string): Promise<StoredPatient | null> {
    const item = await table.get(patientKey(clinic, id))
    return item ? toStoredPatient(item) : null
  }

  async function findMany(clinic: ClinicId, ids: readonly string[]): Promise<Map<string, StoredPatient>> {
    const items = await table.getMany(ids.map((id) => patientKey(clinic, id)))
    return new Map(items.map((item) => [item.sk, toStoredPatient(item)]))
  }

  /** Most recently created first. The head determines the ordinals of the page, and one range query reads them. */
  async function page(clinic: ClinicId, request: PageRequest): Promise<NumberedPage<WithUpdatedAt<Patient>>> {
    const { patients: total } = await readPatientHead(table, clinic)
    const ordinals = descendingOrdinals(total, request)
    if (!ordinals) return { items: [], total, next: null }
    return { ...(await ofOrdinals(clinic, ordinals.from, ordinals.to)), total }
  }

  /** At most `limit` patients who were created before the one at this cursor. Ordinals are dense and end at 0. */
  async function after(
    clinic: ClinicId,
    cursor: string,
    limit: number,
  ): Promise<CursorPage<WithUpdatedAt<Patient>>> {
    const to = Number(cursor) - 1
    return to < 0 ? { items: [], next: null } : ofOrdinals(clinic, Math.max(0, to - limit + 1), to)
  }

  async function ofOrdinals(clinic: ClinicId, from: number, to: number) {
    const rows = await table.query({
      pk: patientListPartition(clinic),
      from: sortableNumber(from),
      to: sortableNumber(to),
      descending: true,
      limit: to - from + 1,
    })
    return { items: rows.map(toPatient), next: from > 0 ? sortableNumber(from) : null }
  }

  /** The patients at these ordinals, in the same order. */
  async function findByOrdinals(
    clinic: ClinicId,
    ordinals: readonly number[],
  ): Promise<WithUpdatedAt<Patient>[]> {
    const rows = await readRows(clinic, ordinals)
    const byKey = new Map(rows.map((row) => [row.sk, row]))
    return ordinals.flatMap((ordinal) => {
      const row = byKey.get(sortableNumber(ordinal))
      return row ? [toPatient(row)] : []
    })
  }

  /** A range costs a fraction of single reads. It may hold as many other rows. */
  async function readRows(clinic: ClinicId, ordinals: readonly number[]): Promise<Item[]> {
    if (ordinals.length === 0) return []
    const from = Math.min(...ordinals)
    const to = Math.max(...ordinals)
    const length = to - from + 1
    if (length > 2 * ordinals.length)
      return table.getMany(ordinals.map((ordinal) => patientRowKey(clinic, ordinal)))
    return table.query({
      pk: patientListPartition(clinic),
      from: sortableNumber(from),
      to: sortableNumber(to),
      limit: length,
    })
  }

  return {
    find,
    findMany,
    page,
    after,
    changes: changeIndexReader<StoredPatient>(table, 'P', findMany),
    findByOrdinals,
  }
}

export const patientsByExternalId = ({ table }: { table: Table }) =>
  pageByExternalId(table, 'patient', patientStore({ table }).find)

/** Names are short because the cost of a list row is its size in bytes. */
export const PATIENT_ATTRIBUTES = {
  firstName: text('f'),
  lastName: text('l'),
  dateOfBirth: nullable(text('d')),
  gender: nullable(choice('g', GENDERS)),
  phoneNumber: nullable(text('p')),
  emailAddress: nullable(text('e')),
  isActive: trueByDefault('n'),
  acceptsSms: trueByDefault('ns'),
  acceptsEmail: trueByDefault('ne'),
  language: optional(text('la')),
  nationalId: unlisted(optional(text('ni'))),
  notes: unlisted(optional(text('no'))),
  externalId: optional(text('xi')),
  createdAt: instant('c'),
  erasedAt: optional(instant('x')),
} satisfies AttributeMap<Omit<Patient, 'id'>>

/** The attributes of the record and of the list row; the row also names the patient (`i`). */
const patientCodec = withUpdatedAtCodec(recordCodec<Patient>(PATIENT_ATTRIBUTES))

export const recordItem = (
  key: Key,
  { ordinal, version, events, imported, isLinkedByApi, ...patient }: StoredPatient,
): Item => ({
  ...key,
  o: ordinal,
  v: version,
  ...(events > 0 && { ev: events }),
  ...provenanceAttributes({ externalId: undefined, imported, isLinkedByApi }),
  ...patientCodec.encode(patient),
})

/** A list row has no attribute that only records have. */
export function rowItem(key: Key, patient: WithUpdatedAt<Patient>): Item {
  const listed = Object.entries(patientCodec.encode(patient)).filter(([name]) =>
    isListed(name, patientCodec.unlisted),
  )
  return { ...key, i: patient.id, ...Object.fromEntries(listed) }
}

/** @throws TypeError or RangeError for an item that is not a patient's record or row */
export const toPatient = (item: Item): WithUpdatedAt<Patient> => patientCodec.decode(item, item.i ?? item.sk)

/** @throws TypeError or RangeError for an item that is not a patient's record */
export function toStoredPatient(item: Item): StoredPatient {
  return {
    ...toPatient(item),
    ordinal: item.o ?? 0,
    version: item.v ?? 0,
    events: item.ev ?? 0,
    ...provenanceOfItem(item),
  }
}

/** The cursor after the last of these ordinals. */
export function cursorAfter(ordinals: readonly number[]): string | null {
  const last = ordinals.at(-1)
  return last === undefined ? null : sortableNumber(last)
}

/** Whether a text is a cursor of the list: an ordinal. */
export const isPatientCursor = (text: string): boolean => /^\d{10}$/.test(text)
