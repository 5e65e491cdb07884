/** Shared by the imports of departments, rooms, treatments and price lists. */
import { type CatalogueKind, type FieldProblem, MAX_CATALOGUE } from '../../../shared/domain/catalogue.ts'
import type { ClinicId, ClinicInfo } from '../../../shared/domain/clinic.ts'
import type { CatalogueStore, EntryChange, StoredEntry } from '../../../shared/store/catalogue.ts'
import { chunked } from '../../../shared/store/table/chunked.ts'
import type { BatchOutcomes } from './batch-outcomes.ts'
import { parsePrice } from './catalogue-fields.ts'
import { type ImportRow, isUnchanged } from './entity.ts'
import { RowRejectedError } from './patient-rows.ts'

/** Records in one transaction, whose size is limited: a price list can have a thousand prices. */
const MAX_SAVED = 40

/** The records of the clinic by id. */
type Known<Entry> = ReadonlyMap<string, StoredEntry<Entry>>

export type CatalogueRows<Entry, Fields> = {
  readonly kind: CatalogueKind
  readonly store: CatalogueStore<Entry>
  /** The record of a row. @throws RowRejectedError */
  readonly build: (row: ImportRow<Fields>, before: Entry | null) => Entry
  readonly problems: (entry: Entry, known: Iterable<Entry>) => readonly FieldProblem<Entry>[]
  /** The column of each field that can be wrong beside other records. */
  readonly columns: { readonly [Name in keyof Entry]?: string }
}

/** Writes a batch of rows. Each record is written on the condition that it has not changed since it was read. */
export async function writeCatalogueRows<Entry extends { readonly id: string }, Fields>(
  rows: CatalogueRows<Entry, Fields>,
  { id: clinic }: ClinicInfo,
  batch: readonly ImportRow<Fields>[],
  outcomes: BatchOutcomes,
): Promise<void> {
  const known = new Map((await rows.store.list(clinic)).map((entry) => [entry.id, entry]))
  const { entries, rejections } = judgeRows(rows, batch, known)
  for (const [id, reason] of rejections) outcomes.rejected(id, reason)
  const changes: EntryChange<Entry>[] = []
  for (const { row, entry: after } of entries) {
    const before = known.get(row.id) ?? null
    if (before && isUnchanged<Entry>(before, after)) {
      outcomes.unchanged(row.id)
      continue
    }
    const externalId = before ? before.externalId : row.externalId
    changes.push({ before, after: { ...after, ...(externalId !== undefined && { externalId }) } })
  }
  // A changed record may give up what only one can have, and a new one is to get.
  for (const write of ['updated', 'imported'] as const) {
    const written = changes.filter(({ before }) => (before === null) === (write === 'imported'))
    for (const chunk of chunked(written, MAX_SAVED)) {
      const ids = chunk.map(({ after }) => after.id)
      await outcomes.commit(ids, write, () => rows.store.save(clinic, chunk))
    }
  }
}

type JudgedRow<Entry, Fields> = { readonly row: ImportRow<Fields>; readonly entry: Entry }

/**
 * The records of the rows of a batch, and why others are rejected. Each row is judged beside the records as the batch leaves them,
 * whatever its order: two can exchange their codes. The record of a rejected row stays as it is, so the others are judged again.
 */
function judgeRows<Entry extends { readonly id: string }, Fields>(
  rows: CatalogueRows<Entry, Fields>,
  batch: readonly ImportRow<Fields>[],
  known: Known<Entry>,
) {
  const rejections = new Map<string, string>()
  for (;;) {
    const left = batch.filter(({ id }) => !rejections.has(id))
    const changing = new Set(left.map(({ id }) => id))
    const present = new Map<string, Entry>([...known].filter(([id]) => !changing.has(id)))
    const entries: JudgedRow<Entry, Fields>[] = []
    let count = known.size
    for (const row of left) {
      const before = known.get(row.id) ?? null
      try {
        const entry = checkedEntry(rows, row, before, { present, count })
        entries.push({ row, entry })
        present.set(row.id, entry)
        if (!before) count++
      } catch (error) {
        if (!(error instanceof RowRejectedError)) throw error
        rejections.set(row.id, error.message)
      }
    }
    if (entries.length === left.length) return { entries, rejections }
  }
}

/** @throws RowRejectedError */
function checkedEntry<Entry extends { readonly id: string }, Fields>(
  { kind, build, problems, columns }: CatalogueRows<Entry, Fields>,
  row: ImportRow<Fields>,
  before: StoredEntry<Entry> | null,
  { present, count }: { readonly present: ReadonlyMap<string, Entry>; readonly count: number },
): Entry {
  if (!before && count >= MAX_CATALOGUE[kind])
    throw new RowRejectedError(
      `the clinic has ${MAX_CATALOGUE[kind]} ${kind}s already, the most that it can have`,
    )
  const entry = build(row, before)
  const found = problems(entry, present.values())
  if (found.length > 0)
    throw new RowRejectedError(
      found.map(({ field, issue }) => `${columns[field] ?? field} ${issue}`).join('; '),
    )
  return entry
}

/** The ids of all records of a small list. */
export async function readIds(
  { list }: { readonly list: (clinic: ClinicId) => Promise<readonly { readonly id: string }[]> },
  { id: clinic }: ClinicInfo,
): Promise<ReadonlySet<string>> {
  return new Set((await list(clinic)).map(({ id }) => id))
}

/** The currency of a row: its own, that of the record if the file has no such column, or the clinic's. */
export const currencyOf = (
  given: string | null | undefined,
  before: { readonly currency: string } | null,
  clinic: ClinicInfo,
): string => (given === undefined ? before?.currency : given) ?? clinic.currency

/** A price in minor units. @throws RowRejectedError */
export function priceOf(value: string | number, currency: string, column: string): number {
  const parsed = parsePrice(value, currency)
  if ('issue' in parsed) throw new RowRejectedError(`${column} ${parsed.issue}`)
  return parsed.price
}
