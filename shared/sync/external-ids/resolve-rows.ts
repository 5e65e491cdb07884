/**
 * An export names records without an external id by their own ids. In the clinic of the export, a row with such an
 * id belongs to that record, even if the record was linked to an external id since. In another clinic, it makes a new record.
 */

import type { ClinicId } from '../../domain/clinic.ts'
import { erasureLedger } from '../../store/copies/erasure-ledger.ts'
import {
  formsOf,
  type ImportedKind,
  type ImportIds,
  type ImportKeys,
} from '../../store/external-ids/derive.ts'
import { findLinks, isLinkable, LINKABLE } from '../../store/external-ids/links.ts'
import { calendarKey } from '../../store/keys/calendar.ts'
import { departmentKey, priceListKey, roomKey, treatmentKey } from '../../store/keys/catalogue.ts'
import { holidaysKey } from '../../store/keys/clinics.ts'
import type { Key } from '../../store/keys/key.ts'
import type { Table } from '../../store/table/table.ts'
import type { Item } from '../../store/table/write-requests.ts'
import { parseOwnId } from './resolve-references.ts'

/** Rows whose ids are looked up together. */
const ROWS = 96

/**
 * The key of a record of each kind. Holidays are one item, and have no ids of their own: those without an external id are exported
 * under their days.
 */
export const RECORD_KEYS: {
  readonly [Kind in Exclude<ImportedKind, 'holiday'>]: (clinic: ClinicId, id: string) => Key
} = {
  ...LINKABLE,
  department: departmentKey,
  room: roomKey,
  treatment: treatmentKey,
  'price-list': priceListKey,
  invoice: (clinic, id) => calendarKey(clinic, 'I', id),
  payment: (clinic, id) => calendarKey(clinic, 'Y', id),
  message: (clinic, id) => calendarKey(clinic, 'M', id),
}

export type OwnRecords = ReturnType<typeof ownRecords>

/**
 * Ids of records by external ids, some of which may be ids of records, or linked to records that no import made.
 * @param keys the ids that external ids have without links
 */
export function ownRecords(table: Table, clinic: ClinicId, { derivedIdOf }: Pick<ImportKeys, 'derivedIdOf'>) {
  const asked = new Map<string, { readonly kind: ImportedKind; readonly key: Key }>()
  const found = new Set<string>()
  const askedLinks = new Set<string>()
  const links = new Map<string, string>()

  async function lookUpOwn(): Promise<boolean> {
    if (asked.size === 0) return false
    const keys = new Map([...asked.values()].map(({ key }) => [`${key.pk} ${key.sk}`, key]))
    const items = await table.getMany([...keys.values()])
    const own = [...items, ...(await findErased(items))]
    for (const { pk, sk } of own) found.add(`${pk} ${sk}`)
    for (const { pk, imports } of items) for (const id of Object.keys(imports ?? {})) found.add(`${pk} ${id}`)
    return own.length > 0
  }

  /** Patients who are not in the table, as after a restore to a time before they were created, but were erased. */
  async function findErased(items: readonly Item[]): Promise<Key[]> {
    const present = new Set(items.map(({ pk, sk }) => `${pk} ${sk}`))
    const missing = [...asked]
      .filter(([name, { kind }]) => kind === 'patient' && !present.has(name))
      .map(([, { key }]) => key)
    if (missing.length === 0) return []
    const ids = missing.map(({ sk }) => sk)
    const erased = await erasureLedger({ table }).findErased(clinic, ids)
    return missing.filter(({ sk }) => erased.has(sk))
  }

  /** Whether a record was found. Asks for it otherwise. */
  function isFound(kind: ImportedKind, id: string): boolean {
    const key = kind === 'holiday' ? holidaysKey(clinic) : RECORD_KEYS[kind](clinic, id)
    const name = `${key.pk} ${id}`
    if (!found.has(name)) asked.set(name, { kind, key })
    return found.has(name)
  }

  /**
   * The id of the record that an external id means, as far as its records were looked up. Its forms in Unicode are the same external id,
   * but an earlier release has made records under the form of the file.
   */
  const idOf: ImportIds = (kind, externalId) => {
    const id = parseOwnId(externalId)
    if (id !== null && isFound(kind, id)) return id
    const forms = formsOf(externalId)
    const derived = Array.from(forms, (form) => derivedIdOf(kind, form))
    if (isLinkable(kind)) for (const one of derived) if (!links.has(one)) askedLinks.add(one)
    const [linked] = derived.flatMap((one) => links.get(one) ?? [])
    const made = forms.size > 1 ? derived.find((one) => isFound(kind, one)) : undefined
    return linked ?? made ?? derived[0] ?? ''
  }

  return {
    idOf,
    /** Looks up what was asked for. Returns whether any of it is a record's id, or linked to a record. */
    lookUp: async (): Promise<boolean> => {
      const [hasOwn, linked] = await Promise.all([lookUpOwn(), findLinks(table, clinic, askedLinks)])
      for (const [derived, record] of linked) links.set(derived, record)
      return hasOwn || linked.size > 0
    },
    forget: () => {
      for (const known of [asked, found, askedLinks, links]) known.clear()
    },
  }
}

/** Reads rows. Those that name records by their own ids, or by links, are read again once the records were looked up. */
export async function* withOwnRecords<Source, Row>(
  sources: AsyncIterable<Source>,
  read: (source: Source) => Row,
  own: OwnRecords,
): AsyncGenerator<{ readonly source: Source; readonly row: Row }> {
  for await (const some of inChunks(sources)) {
    const readAll = () => some.map((source) => ({ source, row: read(source) }))
    const rows = readAll()
    yield* (await own.lookUp()) ? readAll() : rows
    // Records are not kept for a whole file, which may have more than fits in memory.
    own.forget()
  }
}

/** As many as are looked up together. */
export async function* inChunks<Row>(sources: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let chunk: Row[] = []
  for await (const source of sources) {
    chunk.push(source)
    if (chunk.length < ROWS) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}
