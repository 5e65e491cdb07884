import { CsvError, parse } from 'csv-parse/sync'

type Cells = { cells: string[]; code?: never } | { cells?: never; code: string }

/** The cells of a record, or the code of what is wrong with it. */
export function cellsOf(text: string, delimiter: string): Cells {
  // Fast path: most records have no quotes.
  if (!text.includes('"')) return { cells: text.split(delimiter) }
  try {
    const [cells = []] = parse(withoutFormulas(text, delimiter), {
      delimiter,
      relax_column_count: true,
      record_delimiter: '\r\n\r\n',
    }) as string[][]
    return { cells }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return { code: error.code }
  }
}

/** Excel's ="0171" without the quotes that CSV requires around it. */
const withoutFormulas = (text: string, delimiter: string): string =>
  text.includes('="')
    ? text.replaceAll(new RegExp(`(?<=^|[${delimiter}])="([^"]*)"(?=[${delimiter}]|$)`, 'g'), '"$1"')
    : text

/** Writes a cell of a file with one of these delimiters: in quotes where readers would take it for more than one. */
export function quoteFor(delimiters: string): (cell: string) => string {
  const special = new RegExp(`["\\r\\n${delimiters}]`)
  return (cell) => (special.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
}

export const UNCLOSED = 'CSV_QUOTE_NOT_CLOSED'

export const CSV_PROBLEMS: { readonly [code: string]: string } = {
  [UNCLOSED]: 'has an unclosed quote; the file may be truncated here',
  CSV_INVALID_CLOSING_QUOTE: 'has text after a closing quote; double the quotes inside a field',
  INVALID_OPENING_QUOTE: 'has a quote in the middle of an unquoted field',
}
