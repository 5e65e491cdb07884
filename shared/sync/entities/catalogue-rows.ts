/** Shared by the imports of departments, rooms, treatments and price lists. */

import { MAX_CATALOGUE } from '../../domain/booking/catalogue.ts'
import { type CatalogueRules, InvalidEntry } from '../../domain/catalogue/catalogue-rules.ts'
import type { ClinicId, ClinicInfo } from '../../domain/clinic.ts'
import { checkMoney } from '../../domain/money/money.ts'
import type { CatalogueStore, EntryChange } from '../../store/catalogue.ts'
import type { Provenance } from '../../store/external-ids/provenance.ts'
import { chunked } from '../../store/table/chunked.ts'
import type { ColumnValues } from '../external-ids/overwrite-check.ts'
import type { RowWrite } from '../outcomes/batch-outcomes.ts'
import { RowRejectedError, requireKnownId } from '../outcomes/row-rejected.ts'
import { type ImportEntity, type ImportRow, type ImportRun, isUnchanged } from './entity.ts'

/** Records in one transaction, whose size is limited: a price list can have a thousand prices. */
const MAX_SAVED = 40

/** What tells the import of one kind of records from that of another. */
type CatalogueImport<Entry, Fields> = Pick<ImportEntity<Fields>, 'name' | 'idKind'> & {
  readonly rules: CatalogueRules<Entry, Fields>
  readonly columns: Pick<ImportEntity<Fields>, 'columns' | 'required' | 'schema'> & {
    readonly valuesOf: (entry: Entry) => ColumnValues
  }
  readonly store: CatalogueStore<Entry>
  readonly references?: SmallList
  /** The column of each field that can conflict with other records. */
  readonly conflicting?: { readonly [Name in keyof Entry]?: string }
}

export function catalogueImport<Entry extends { readonly id: string }, Fields>({
  name,
  idKind,
  rules: { kind, apply, problems },
  columns,
  store,
  references,
  conflicting,
}: CatalogueImport<Entry, Fields>): ImportEntity<Fields> {
  const { valuesOf, ...cells } = columns

  /** The record of a row. @throws RowRejectedError for values that no such record can have */
  function build({ id, fields }: ImportRow<Fields>, before: Entry | null, clinic: ClinicInfo): Entry {
    try {
      return apply(fields, before, id, clinic.currency)
    } catch (error) {
      throw error instanceof InvalidEntry ? new RowRejectedError(error.problems) : error
    }
  }

  /** Writes a batch of rows. Each record is written on the condition that no record of its kind was saved since all were read. */
  async function write(run: ImportRun, batch: readonly ImportRow<Fields>[]): Promise<void> {
    const { clinic, overwritePolicy, outcomes } = run
    const referable = references ? await readIds(references, clinic) : new Set<string>()
    const { entries: read, version } = await store.readState(clinic.id)
    const known = new Map(read.map((entry) => [entry.id, entry]))
    const missing = batch.map(({ id }) => id).filter((id) => !known.has(id))
    const removed = await store.findRemoved(clinic.id, missing)
    const provenanceOf = (id: string): Provenance => known.get(id) ?? removed.get(id) ?? {}

    /** @param present the records as the batch leaves them @throws RowRejectedError */
    function check(row: ImportRow<Fields>, present: ReadonlyMap<string, Entry>, count: number) {
      const before = known.get(row.id) ?? null
      requireKnownId(row, before)
      if (!before && count >= MAX_CATALOGUE[kind])
        throw new RowRejectedError({
          field: '',
          issue: `the clinic has ${MAX_CATALOGUE[kind]} ${kind}s already, the most that it can have`,
        })
      const entry = build(row, before, clinic)
      const found = problems(entry, present.values(), referable)
      if (found.length > 0)
        throw new RowRejectedError(
          found.map(({ field, issue }) => ({ field: row.columnOf(conflicting?.[field] ?? field), issue })),
        )
      if (!before && removed.has(row.id))
        overwritePolicy.requireOverwrite(
          'removed',
          `the ${kind} was removed after its last import`,
          'to make it again',
        )
      const provenance = overwritePolicy.check(row, before, before && valuesOf(before), valuesOf(entry))
      return { row, entry, provenance }
    }

    /**
     * The records of rows, without those that are rejected. Each row is checked against the records as the batch leaves them, whatever
     * its order: two can exchange their codes. The record of a rejected row does not change, so the others are checked again.
     */
    function checkAll(rows: readonly ImportRow<Fields>[]): ReturnType<typeof check>[] {
      const changing = new Set(rows.map(({ id }) => id))
      const present = new Map<string, Entry>([...known].filter(([id]) => !changing.has(id)))
      const checked: ReturnType<typeof check>[] = []
      let count = known.size
      for (const row of rows) {
        const one = outcomes.decided(row.id, () => check(row, present, count))
        if (!one) continue
        checked.push(one)
        present.set(row.id, one.entry)
        if (!known.has(row.id)) count++
      }
      return checked.length === rows.length ? checked : checkAll(checked.map(({ row }) => row))
    }

    const repeated = new Set(batch.filter((row) => overwritePolicy.isImported(row, provenanceOf(row.id))))
    for (const { id } of repeated) outcomes.unchanged(id)
    const changes = checkAll(batch.filter((row) => !repeated.has(row))).map(
      ({ row, entry, provenance }): EntryChange<Entry> & { readonly write: RowWrite } => {
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
      const same = changes.filter((change) => change.write === write)
      for (const chunk of chunked(same, MAX_SAVED)) {
        const ids = chunk.map(({ after }) => after.id)
        await outcomes.commit(ids, write, () => store.save(clinic.id, chunk, version + saved))
        saved++
      }
    }
  }

  return { name, idKind, ...cells, batchSize: MAX_CATALOGUE[kind], write }
}

type SmallList = { readonly list: (clinic: ClinicId) => Promise<readonly { readonly id: string }[]> }

export async function readIds({ list }: SmallList, { id: clinic }: ClinicInfo): Promise<ReadonlySet<string>> {
  return new Set((await list(clinic)).map(({ id }) => id))
}

/** An amount in minor units. @throws RowRejectedError */
export function amountOf(value: string | number, currency: string, column: string, positive = false): number {
  const amount = checkMoney(value, currency, positive)
  if ('issue' in amount) throw new RowRejectedError({ field: column, issue: amount.issue })
  return amount.units
}
