import { CsvError, parse } from 'csv-parse/sync'

type Cells =
  | { cells: string[]; code?: never; column?: never }
  | { cells?: never; code: string; column: number | undefined }

/** The cells of a record, or the code of what is wrong with it, and the number of the column. */
export function cellsOf(text: string, delimiter: string): Cells {
  // Fast path: most records have no quotes.
  if (!text.includes('"')) return { cells: text.split(delimiter) }
  const parsed = parseCells(text, delimiter)
  const unwrapped = parsed.cells ? text : withoutFormulas(text, delimiter)
  return unwrapped === text ? parsed : parseCells(unwrapped, delimiter)
}

function parseCells(text: string, delimiter: string): Cells {
  try {
    const [cells = []] = parse(text, {
      delimiter,
      relax_column_count: true,
      record_delimiter: '\r\n\r\n',
    }) as string[][]
    return { cells }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return { code: error.code, column: typeof error.column === 'number' ? error.column + 1 : undefined }
  }
}

/** Excel's ="0171" without the quotes that CSV requires around it. */
const withoutFormulas = (text: string, delimiter: string): string =>
  text.includes('="')
    ? text.replaceAll(new RegExp(`(?<=^|[${delimiter}])="([^"]*)"(?=[${delimiter}]|$)`, 'g'), '"$1"')
    : text

/** A cell that Excel is to read as text, such as ="0171". */
const EXCEL_TEXT = /^="([^"]*)"$/

/** The value of a cell: the text in a formula of Excel, or the text that {@link cellWriter} protected with an apostrophe. */
export const cellValue = (cell: string): string =>
  EXCEL_TEXT.exec(cell)?.[1] ?? (/^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell)

/** Text that spreadsheets would run as a formula, or that reads as protected. Numbers and phone numbers do no harm. */
const isRisky = (value: string): boolean =>
  /^'*[=+\-@\t\r]/.test(value) && !/^(?:\+[1-9]\d{1,14}|-?\d+(?:\.\d+)?)$/.test(value)

/**
 * Writes the value of a cell of a file with one of these delimiters: with an apostrophe where spreadsheets would run it as a formula,
 * and in quotes where readers would take it for more than one cell.
 */
export function cellWriter(delimiters: string): (value: string) => string {
  const special = new RegExp(`["\\r\\n${delimiters}]`)
  return (value) => {
    const cell = isRisky(value) ? `'${value}` : value
    return special.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
  }
}

export const UNCLOSED = 'CSV_QUOTE_NOT_CLOSED'

export const CSV_PROBLEMS: { readonly [code: string]: string } = {
  [UNCLOSED]: 'has an unclosed quote; the file may be truncated here',
  CSV_INVALID_CLOSING_QUOTE: 'has text after a closing quote; double the quotes inside a field',
  INVALID_OPENING_QUOTE: 'has a quote in the middle of an unquoted field',
}
