/** A row of an import file, as it was read. */

/** How a file is written, so that its rejected rows can be written the same way, in UTF-8. */
export type FileFormat = { readonly encoding: string } & (
  | { readonly kind: 'ndjson' }
  | {
      readonly kind: 'csv'
      readonly delimiter: string
      /** Whether the first line is `sep=;`, by which Excel knows the delimiter. */
      readonly hasSeparatorLine: boolean
      /** The names of the columns as the file has them, without empty ones at the end. */
      readonly header: readonly string[]
      readonly headerLine: number
    }
)

/** A row's values by the names of the file, or the problem that prevents reading them. */
export type SourceRow = {
  readonly line: number
  /** The cells of a row of CSV, if it has as many as the header. */
  readonly cells?: readonly string[]
  /** The text of a row of NDJSON, and of one of CSV without the cells of the header. */
  readonly text?: string
  /** The other rows of the record, if a converter groups rows. */
  readonly further?: readonly SourceRow[]
  /** What a converter warns of in the row. */
  readonly warnings?: readonly string[]
} & ({ readonly values: { readonly [name: string]: unknown } } | { readonly problem: string })

/** Problems of rows that are no records, nor parts of records. */
export const SUM_PROBLEM = 'looks like a sum of the rows above, not like a record'
export const HEADER_PROBLEM = 'repeats the header'

/** The column that files of rejected rows add. */
export const REASON = 'rejected_because'
