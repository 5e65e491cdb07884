/**
 * An export names records without an external id by their own ids. In the clinic of the export, a row with such an
 * id belongs to that record, even if the record was linked to an external id since. In another clinic, it makes a new record.
 */
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { erasureLedger } from '../../../../shared/store/copies/erasure-ledger.ts'
import type { ImportedKind, ImportIds, ImportKeys } from '../../../../shared/store/external-ids/derive.ts'
import { findLinks, isLinkable, LINKABLE } from '../../../../shared/store/external-ids/links.ts'
import { calendarKey } from '../../../../shared/store/keys/calendar.ts'
import {
  departmentKey,
  priceListKey,
  roomKey,
  treatmentKey,
} from '../../../../shared/store/keys/catalogue.ts'
import type { Key } from '../../../../shared/store/keys/key.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { Item } from '../../../../shared/store/table/write-requests.ts'
import type { SourceRow } from '../files/row.ts'
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

type Keys = Pick<ImportKeys, 'derivedIdOf'>

type Asked = { readonly kind: ImportedKind; readonly key: Key }

/** Ids of records by external ids, some of which may be ids of records, or linked to records that no import made. */
export class OwnRecords {
  readonly #table: Table
  readonly #clinic: ClinicId
  readonly #keys: Keys
  readonly #asked = new Map<string, Asked>()
  readonly #found = new Set<string>()
  readonly #askedLinks = new Set<string>()
  readonly #links = new Map<string, string>()

  /** @param keys the ids that external ids have without links */
  constructor(table: Table, clinic: ClinicId, keys: Keys) {
    this.#table = table
    this.#clinic = clinic
    this.#keys = keys
  }

  /** The id of the record that an external id means, as far as its records were looked up. */
  readonly idOf: ImportIds = (kind, externalId) => {
    const id = parseOwnId(externalId)
    if (id !== null && kind !== 'holiday') {
      const key = RECORD_KEYS[kind](this.#clinic, id)
      const name = `${key.pk} ${id}`
      if (this.#found.has(name)) return id
      this.#asked.set(name, { kind, key })
    }
    const derived = this.#keys.derivedIdOf(kind, externalId)
    if (isLinkable(kind) && !this.#links.has(derived)) this.#askedLinks.add(derived)
    return this.#links.get(derived) ?? derived
  }

  /** Looks up what was asked for. Returns whether any of it is a record's id, or linked to a record. */
  async lookUp(): Promise<boolean> {
    const [hasOwn, links] = await Promise.all([
      this.#lookUpOwn(),
      findLinks(this.#table, this.#clinic, this.#askedLinks),
    ])
    for (const [derived, record] of links) this.#links.set(derived, record)
    return hasOwn || links.size > 0
  }

  async #lookUpOwn(): Promise<boolean> {
    if (this.#asked.size === 0) return false
    const items = await this.#table.getMany([...this.#asked.values()].map(({ key }) => key))
    const own = [...items, ...(await this.#findErased(items))]
    for (const { pk, sk } of own) this.#found.add(`${pk} ${sk}`)
    return own.length > 0
  }

  /** Patients who are not in the table, as after a restore to a time before they were created, but were erased. */
  async #findErased(items: readonly Item[]): Promise<Key[]> {
    const present = new Set(items.map(({ pk, sk }) => `${pk} ${sk}`))
    const missing = [...this.#asked]
      .filter(([name, { kind }]) => kind === 'patient' && !present.has(name))
      .map(([, { key }]) => key)
    if (missing.length === 0) return []
    const ids = missing.map(({ sk }) => sk)
    const erased = await erasureLedger({ table: this.#table }).findErased(this.#clinic, ids)
    return missing.filter(({ sk }) => erased.has(sk))
  }

  forget(): void {
    this.#asked.clear()
    this.#found.clear()
    this.#askedLinks.clear()
    this.#links.clear()
  }
}

/** Reads rows. Those that name records by their own ids, or by links, are read again once the records were looked up. */
export async function* withOwnRecords<Row>(
  sources: AsyncIterable<SourceRow>,
  read: (source: SourceRow) => Row,
  own: OwnRecords,
): AsyncGenerator<{ readonly source: SourceRow; readonly row: Row }> {
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
