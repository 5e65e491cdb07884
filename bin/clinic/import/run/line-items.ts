/** Line items in a file of their own: they are kept until the file with their invoices is imported. */
import { deserialize, serialize } from 'node:v8'
import * as z from 'zod'
import type { ImportableEntity, ImportRow } from '../../../../shared/sync/entities/entity.ts'
import {
  type LineItemCells,
  LineItems,
  MAX_LINE_ITEMS,
  readLineItems,
  TOO_MANY_LINE_ITEMS,
} from '../../../../shared/sync/entities/line-item-cells.ts'
import { RowRejectedError } from '../../../../shared/sync/outcomes/row-rejected.ts'
import { LINE_ITEMS } from '../files/import-paths.ts'
import { temporaryDatabase } from '../files/temporary-database.ts'

/** Lines that are named of line items without an invoice. */
const MAX_LINES = 10

/** The line items of such files by the ids of their invoices. */
export class LineItemFiles implements Disposable {
  readonly #db = temporaryDatabase(
    'CREATE TABLE kept (invoice TEXT, line INTEGER, items BLOB, isUsed INTEGER DEFAULT 0);' +
      'CREATE INDEX of_invoice ON kept (invoice)',
  )
  readonly #keep = this.#db.prepare('INSERT INTO kept (invoice, line, items) VALUES (?, ?, ?)')
  readonly #find = this.#db.prepare('SELECT items FROM kept WHERE invoice = ? ORDER BY line')
  readonly #use = this.#db.prepare('UPDATE kept SET isUsed = 1 WHERE invoice = ?')

  /** The entity of such files. The external id of a record is that of the invoice. */
  entity({ readKeys, ownRecords, name: partOf }: ImportableEntity): ImportableEntity {
    return {
      ...LINE_ITEMS,
      partOf,
      idKind: 'invoice',
      required: [],
      schema: (_clinic, _now, idOf) =>
        z
          .strictObject({ line_items: LineItems })
          .transform(({ line_items }) => readLineItems(line_items, idOf)),
      readKeys,
      ownRecords,
      write: async (_, batch) => {
        for (const { id, line, source, fields } of batch)
          this.#keep.run(id, line, serialize({ source: source.line_items, items: fields }))
      },
      onRejected: (id, line) => void this.#keep.run(id, line, null),
    }
  }

  /** The import of invoices with their line items from such files. An invoice is rejected if some of them were. */
  addTo(invoices: ImportableEntity): ImportableEntity {
    return {
      ...invoices,
      write: (run, batch) => {
        const rows = batch.flatMap((row) => run.outcomes.decided(row.id, () => this.#withItems(row)) ?? [])
        return invoices.write(run, rows)
      },
    }
  }

  /** @throws RowRejectedError */
  #withItems(row: ImportRow): ImportRow {
    const kept = this.#find.all(row.id) as { items: Uint8Array | null }[]
    if (kept.length === 0) return row
    this.#use.run(row.id)
    const given = kept.map(({ items }): { source: unknown; items: LineItemCells[] } => {
      if (items === null)
        throw new RowRejectedError({ field: 'line_items', issue: 'has rows that were rejected' })
      return deserialize(items)
    })
    const lineItems = given.flatMap(({ items }) => items)
    if (lineItems.length > MAX_LINE_ITEMS)
      throw new RowRejectedError({ field: 'line_items', issue: TOO_MANY_LINE_ITEMS })
    return {
      ...row,
      fields: { ...(row.fields as object), lineItems },
      source: { ...row.source, line_items: given.flatMap(({ source }) => source) },
    }
  }

  /** How many invoices only the files of line items have, and the first lines of some of them. */
  withoutInvoice(): { readonly count: number; readonly lines: readonly number[] } {
    const rows = this.#db
      .prepare('SELECT min(line) AS line FROM kept WHERE isUsed = 0 GROUP BY invoice ORDER BY line')
      .all() as { line: number }[]
    return { count: rows.length, lines: rows.slice(0, MAX_LINES).map(({ line }) => line) }
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }
}
