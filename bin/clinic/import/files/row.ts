/** A row of an import file, as it was read. */
import type { TextEncoding } from './encoding.ts'

/** How a file is written, so that its rejected rows can be written the same way. */
export type FileFormat = TextEncoding &
  (
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
  /** The cells of a row of CSV, if it is CSV. */
  readonly cells?: readonly string[]
  /** The text of a row of NDJSON, and of one of CSV that cannot be read. */
  readonly text?: string
  /** The other rows of the record, if a map groups rows. */
  readonly further?: readonly SourceRow[]
  /** Whether a quote that quotes nothing was read as text, or left out. */
  readonly hasStrayQuote?: boolean
  /** The line of a row before this one that cannot be read, and may belong to the same record. */
  readonly unreadable?: number
} & ({ readonly values: { readonly [name: string]: unknown } } | { readonly problem: string })
