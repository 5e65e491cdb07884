/**
 * An export names records without an external id by their own ids. A row with such an id is that record's own row in the clinic of the
 * export, and that of a new record in another clinic.
 */
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import type { ImportedKind, ImportIds } from '../../../shared/store/import-ids.ts'
import { calendarKey } from '../../../shared/store/keys/calendar.ts'
import { departmentKey, priceListKey, roomKey, treatmentKey } from '../../../shared/store/keys/catalogue.ts'
import { doctorKey } from '../../../shared/store/keys/clinics.ts'
import type { Key } from '../../../shared/store/keys/key.ts'
import { patientKey } from '../../../shared/store/keys/patients.ts'
import { originOfItem } from '../../../shared/store/table/import-origin.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { parseOwnId } from './references.ts'
import type { SourceRow } from './row.ts'

/** Rows whose ids are looked up together. */
const ROWS = 96

/** Holidays have no ids of their own: those without an external id are exported under their days. */
const KEYS: { readonly [Kind in Exclude<ImportedKind, 'holiday'>]: (clinic: ClinicId, id: string) => Key } = {
  patient: patientKey,
  doctor: doctorKey,
  department: departmentKey,
  room: roomKey,
  treatment: treatmentKey,
  'price-list': priceListKey,
  appointment: (clinic, id) => calendarKey(clinic, 'A', id),
  invoice: (clinic, id) => calendarKey(clinic, 'I', id),
  payment: (clinic, id) => calendarKey(clinic, 'Y', id),
  message: (clinic, id) => calendarKey(clinic, 'M', id),
}

/** Ids of records by external ids, some of which may be ids of records without an external id. */
export class OwnRecords {
  readonly #table: Table
  readonly #clinic: ClinicId
  readonly #derivedIdOf: ImportIds
  readonly #asked = new Map<string, Key>()
  readonly #found = new Set<string>()

  /** @param derivedIdOf the ids that other external ids have */
  constructor(table: Table, clinic: ClinicId, derivedIdOf: ImportIds) {
    this.#table = table
    this.#clinic = clinic
    this.#derivedIdOf = derivedIdOf
  }

  /** The id of the record that an external id means, as far as its records were looked up. */
  readonly idOf: ImportIds = (kind, externalId) => {
    const id = parseOwnId(externalId)
    if (id !== null && kind !== 'holiday') {
      const key = KEYS[kind](this.#clinic, id)
      const name = `${key.pk} ${id}`
      if (this.#found.has(name)) return id
      this.#asked.set(name, key)
    }
    return this.#derivedIdOf(kind, externalId)
  }

  /** Looks up what was asked for. Returns whether any of it is a record's id. */
  async lookUp(): Promise<boolean> {
    if (this.#asked.size === 0) return false
    const items = await this.#table.getMany([...this.#asked.values()])
    const own = items.filter((item) => originOfItem(item).externalId === undefined)
    for (const { pk, sk } of own) this.#found.add(`${pk} ${sk}`)
    return own.length > 0
  }

  forget(): void {
    this.#asked.clear()
    this.#found.clear()
  }
}

/** Reads rows. Those that name records by their own ids are read again once the records were looked up. */
export async function* withOwnRecords<Row>(
  sources: AsyncIterable<SourceRow>,
  read: (source: SourceRow) => Row,
  own: OwnRecords,
): AsyncGenerator<{ readonly source: SourceRow; readonly row: Row }> {
  const readAll = (some: readonly SourceRow[]) => some.map((source) => ({ source, row: read(source) }))
  for await (const some of inChunks(sources)) {
    const rows = readAll(some)
    yield* (await own.lookUp()) ? readAll(some) : rows
    // What was found is not kept for all of a file, which may have more than fits in memory.
    own.forget()
  }
}

async function* inChunks(sources: AsyncIterable<SourceRow>): AsyncGenerator<SourceRow[]> {
  let chunk: SourceRow[] = []
  for await (const source of sources) {
    chunk.push(source)
    if (chunk.length < ROWS) continue
    yield chunk
    chunk = []
  }
  yield chunk
}
