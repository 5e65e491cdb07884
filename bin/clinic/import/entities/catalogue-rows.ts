/** Shared by the imports of departments, rooms, treatments and price lists. */
import {
  type CatalogueKind,
  type FieldProblem,
  MAX_CATALOGUE,
} from '../../../../shared/domain/booking/catalogue.ts'
import type { ClinicId, ClinicInfo } from '../../../../shared/domain/clinic.ts'
import { checkMoney } from '../../../../shared/domain/money/money.ts'
import type { CatalogueStore, EntryChange, StoredEntry } from '../../../../shared/store/catalogue.ts'
import type { Provenance } from '../../../../shared/store/external-ids/provenance.ts'
import { chunked } from '../../../../shared/store/table/chunked.ts'
import type { ColumnValues } from '../external-ids/overwrite-check.ts'
import type { Write } from '../files/batch-outcomes.ts'
import { RowRejectedError, requireKnownId } from '../files/import-errors.ts'
import { type ImportEntity, type ImportRow, type ImportRun, isUnchanged } from './entity.ts'

/** Records in one transaction, whose size is limited: a price list can have a thousand prices. */
const MAX_SAVED = 40

/** The records of the clinic by id. */
type Known<Entry> = ReadonlyMap<string, StoredEntry<Entry>>

/** What tells the import of one kind of records from that of another. */
type CatalogueImport<Entry, Fields> = Pick<ImportEntity<Fields>, 'name' | 'idKind'> & {
  readonly kind: CatalogueKind
  readonly columns: Pick<ImportEntity<Fields>, 'columns' | 'required' | 'schema'> & {
    readonly valuesOf: (entry: Entry) => ColumnValues
  }
  readonly store: CatalogueStore<Entry>
  /** The records that rows may refer to. */
  readonly references?: SmallList
  /** The record of a row. @throws RowRejectedError */
  readonly build: (row: ImportRow<Fields>, before: Entry | null, clinic: ClinicInfo) => Entry
  /** @param known the ids of what rows may refer to */
  readonly problems?: (
    entry: Entry,
    others: Iterable<Entry>,
    known: ReadonlySet<string>,
  ) => readonly FieldProblem<Entry>[]
  /** The column of each field that can conflict with other records. */
  readonly conflicting?: { readonly [Name in keyof Entry]?: string }
}

export function catalogueImport<Entry extends { readonly id: string }, Fields>(
  rows: CatalogueImport<Entry, Fields>,
): ImportEntity<Fields> {
  const { name, idKind, kind, columns, references } = rows
  return {
    name,
    idKind,
    ...columns,
    batchSize: MAX_CATALOGUE[kind],
    write: async (run, batch) =>
      writeRows(
        { ...rows, known: references ? await readIds(references, run.clinic) : new Set() },
        run,
        batch,
      ),
  }
}

type CatalogueRows<Entry, Fields> = CatalogueImport<Entry, Fields> & { readonly known: ReadonlySet<string> }

/** Writes a batch of rows. Each record is written on the condition that no record of its kind was saved since all were read. */
async function writeRows<Entry extends { readonly id: string }, Fields>(
  rows: CatalogueRows<Entry, Fields>,
  run: ImportRun,
  batch: readonly ImportRow<Fields>[],
): Promise<void> {
  const { clinic, overwritePolicy, outcomes } = run
  const { entries: read, version } = await rows.store.readState(clinic.id)
  const known = new Map(read.map((entry) => [entry.id, entry]))
  const missing = batch.map(({ id }) => id).filter((id) => !known.has(id))
  const removed = await rows.store.findRemoved(clinic.id, missing)
  const provenanceOf = (id: string): Provenance => known.get(id) ?? removed.get(id) ?? {}
  const repeated = new Set(batch.filter((row) => overwritePolicy.isImported(row, provenanceOf(row.id))))
  for (const { id } of repeated) outcomes.unchanged(id)
  const changed = batch.filter((row) => !repeated.has(row))
  const { entries, rejections } = checkRows(rows, changed, { known, removed, run })
  for (const [id, reason] of rejections) outcomes.rejected(id, reason)
  const changes = entries.map(
    ({ row, entry, provenance }): EntryChange<Entry> & { readonly write: Write } => {
      const before = known.get(row.id) ?? null
      const isSame = before !== null && isUnchanged<Entry>(before, entry)
      return {
        before,
        after: { ...entry, ...provenance },
        write: isSame ? 'unchanged' : before ? 'updated' : 'imported',
      }
    },
  )
  // A changed record may give up what only one can have, and a new one is to get.
  let saved = 0
  for (const write of ['updated', 'imported', 'unchanged'] as const) {
    for (const chunk of chunked(
      changes.filter((change) => change.write === write),
      MAX_SAVED,
    )) {
      const ids = chunk.map(({ after }) => after.id)
      await outcomes.commit(ids, write, () => rows.store.save(clinic.id, chunk, version + saved))
      saved++
    }
  }
}

type CheckedRow<Entry, Fields> = {
  readonly row: ImportRow<Fields>
  readonly entry: Entry
  readonly provenance: Provenance
}

/** The records of the clinic, and what imports left of those that it has removed. */
type Records<Entry> = {
  readonly known: Known<Entry>
  readonly removed: ReadonlyMap<string, Provenance>
  readonly run: ImportRun
}

/**
 * The records of the rows of a batch, and why others are rejected. Each row is checked against the records as the batch leaves
 * them, whatever its order: two can exchange their codes. The record of a rejected row does not change, so the others are checked
 * again.
 */
function checkRows<Entry extends { readonly id: string }, Fields>(
  rows: CatalogueRows<Entry, Fields>,
  batch: readonly ImportRow<Fields>[],
  records: Records<Entry>,
) {
  const { known } = records
  const rejections = new Map<string, string>()
  for (;;) {
    const left = batch.filter(({ id }) => !rejections.has(id))
    const changing = new Set(left.map(({ id }) => id))
    const present = new Map<string, Entry>([...known].filter(([id]) => !changing.has(id)))
    const entries: CheckedRow<Entry, Fields>[] = []
    let count = known.size
    for (const row of left) {
      try {
        const checked = checkedRow(rows, row, records, { present, count })
        entries.push(checked)
        present.set(row.id, checked.entry)
        if (!known.has(row.id)) count++
      } catch (error) {
        if (!(error instanceof RowRejectedError)) throw error
        rejections.set(row.id, error.message)
      }
    }
    if (entries.length === left.length) return { entries, rejections }
  }
}

/** @throws RowRejectedError */
function checkedRow<Entry extends { readonly id: string }, Fields>(
  {
    kind,
    build,
    columns: { valuesOf },
    problems,
    conflicting,
    known: referable,
  }: CatalogueRows<Entry, Fields>,
  row: ImportRow<Fields>,
  { known, removed, run: { clinic, overwritePolicy } }: Records<Entry>,
  { present, count }: { readonly present: ReadonlyMap<string, Entry>; readonly count: number },
): CheckedRow<Entry, Fields> {
  const before = known.get(row.id) ?? null
  requireKnownId(row, before)
  if (!before && count >= MAX_CATALOGUE[kind])
    throw new RowRejectedError(
      `the clinic has ${MAX_CATALOGUE[kind]} ${kind}s already, the most that it can have`,
    )
  const entry = build(row, before, clinic)
  const found = problems?.(entry, present.values(), referable) ?? []
  if (found.length > 0)
    throw new RowRejectedError(
      found.map(({ field, issue }) => `${row.columnOf(conflicting?.[field] ?? field)} ${issue}`).join('; '),
    )
  if (!before && removed.has(row.id))
    overwritePolicy.requireOverwrite(`the ${kind} was removed after its last import`)
  const provenance = overwritePolicy.check(row, before, before && valuesOf(before), valuesOf(entry))
  return { row, entry, provenance }
}

type SmallList = { readonly list: (clinic: ClinicId) => Promise<readonly { readonly id: string }[]> }

/** The ids of all records of a small list. */
export async function readIds({ list }: SmallList, { id: clinic }: ClinicInfo): Promise<ReadonlySet<string>> {
  return new Set((await list(clinic)).map(({ id }) => id))
}

/** The currency of a row: the row's own, the record's if the file has no such column, or the clinic's. */
export const currencyOf = (
  given: string | null | undefined,
  before: { readonly currency: string } | null,
  clinic: ClinicInfo,
): string => (given === undefined ? before?.currency : given) ?? clinic.currency

/** An amount in minor units. @throws RowRejectedError */
export function amountOf(value: string | number, currency: string, column: string, positive = false): number {
  const amount = checkMoney(value, currency, positive)
  if ('issue' in amount) throw new RowRejectedError(`${column} ${amount.issue}`)
  return amount.units
}
