/** Reads import files as streams: one row at a time, with the line it starts on, never the whole file. */
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { CsvError, parse } from 'csv-parse/sync'

/** A row's fields, or the problem that prevents reading them. */
export type Row =
  | { readonly line: number; readonly fields: Record<string, unknown> }
  | { readonly line: number; readonly problem: string }

/** The file as a whole cannot be imported. The message contains its path, and the line if there is one. */
export class ImportFileError extends Error {}

/** Maximum length of a record, in characters or bytes. */
const MAX_ROW_LENGTH = 1_000_000

/** Calls `onBytes` with the length of each chunk, and `checkColumns` with the header of a CSV file; it may throw. */
export type ReadRows = (
  file: string,
  onBytes: (bytes: number) => void,
  checkColumns: (columns: string[]) => void,
) => AsyncGenerator<Row>

/** @throws ImportFileError unless the extension is .csv, .ndjson or .jsonl */
export function rowReader(file: string): ReadRows {
  if (/\.csv$/i.test(file)) return readCsv
  if (/\.(ndjson|jsonl)$/i.test(file)) return readNdjson
  throw new ImportFileError(`${file}: the name must end in .csv, .ndjson or .jsonl`)
}

/** @throws ImportFileError if the file starts with a UTF-16 byte order mark */
async function rejectUtf16(file: string): Promise<void> {
  const handle = await open(file)
  try {
    const [first, second] = (await handle.read(Buffer.alloc(2), 0, 2, 0)).buffer
    if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
      throw new ImportFileError(`${file}:1: the file is UTF-16; save it as UTF-8`)
    }
  } finally {
    await handle.close()
  }
}

function readChunks(file: string, onBytes: (bytes: number) => void) {
  const stream = createReadStream(file)
  stream.on('data', (piece) => onBytes(piece.length))
  return stream
}

/** A physical line of the file. */
type Line = { readonly number: number; readonly text: string; readonly ended: boolean }

/** Maximum length of a record with line breaks inside quotes. A longer one has an unclosed quote. */
const MAX_QUOTED_LENGTH = 64_000

/**
 * Reads records line by line, and more lines only while a quote is open. If those lines are not one record, only the
 * first is rejected and reading continues with the second: one stray quote costs one row.
 */
async function* readCsv(
  file: string,
  onBytes: (bytes: number) => void,
  checkColumns: (columns: string[]) => void,
): AsyncGenerator<Row> {
  await rejectUtf16(file)
  const source = textLines(file, onBytes)
  const pushedBack: Line[] = []
  const next = async (): Promise<Line | undefined> => pushedBack.shift() ?? (await source.next()).value
  let header: { columns: string[]; delimiter: string } | undefined
  for (let line = await next(); line; line = await next()) {
    if (line.text.trim() === '') continue
    if (!header) {
      header = headerOf(line.text, file)
      checkColumns(header.columns)
      continue
    }
    const lines = [line, ...(await readContinuation(line, next))]
    const row = csvRow(lines, header)
    yield row
    // Lines that were read ahead belong to other records, unless they completed this one.
    if ('problem' in row) pushedBack.unshift(...lines.slice(1))
  }
}

/** The following lines while a quote is open, up to the maximum length of a record. */
async function readContinuation(first: Line, next: () => Promise<Line | undefined>): Promise<Line[]> {
  const more: Line[] = []
  let open = hasOpenQuote(first.text)
  let length = first.text.length
  while (open && length <= MAX_QUOTED_LENGTH) {
    const line = await next()
    if (!line) break
    more.push(line)
    length += line.text.length
    if (hasOpenQuote(line.text)) open = false
  }
  return more
}

/** Whether the number of quotes is odd. Escaped quotes come in pairs. */
const hasOpenQuote = (text: string): boolean => (text.match(/"/g)?.length ?? 0) % 2 === 1

function headerOf(text: string, file: string): { columns: string[]; delimiter: string } {
  const delimiter = delimiterOf(text)
  const { cells, problem } = cellsOf(text, delimiter)
  if (!cells) throw new ImportFileError(`${file}:1: the header ${problem}`)
  const columns = cells.map((name) => name.trim())
  if (text.includes('\uFFFD')) throw new ImportFileError(`${file}:1: the file is not UTF-8; save it as UTF-8`)
  return { columns, delimiter }
}

/** Spreadsheets write semicolons in many locales, databases write tabs. */
function delimiterOf(header: string): string {
  const count = (delimiter: string) => header.split(delimiter).length
  return [',', ';', '\t'].reduce((best, next) => (count(next) > count(best) ? next : best))
}

function csvRow(
  lines: readonly Line[],
  { columns, delimiter }: { columns: string[]; delimiter: string },
): Row {
  const [{ number: line }] = lines as [Line]
  const { cells, problem } = cellsOf(lines.map(({ text }) => text).join('\n'), delimiter)
  if (!cells)
    return { line, problem: lines.length > 1 ? (CSV_PROBLEMS.CSV_QUOTE_NOT_CLOSED ?? problem) : problem }
  if (cells.length !== columns.length) {
    return { line, problem: `has ${cells.length} columns, but the header has ${columns.length}` }
  }
  const fields = Object.fromEntries(
    columns.map((name, index) => [name, cells[index] === '' ? null : cells[index]]),
  )
  return checkEncoding(line, fields)
}

type Cells = { cells: string[]; problem?: never } | { cells?: never; problem: string }

function cellsOf(text: string, delimiter: string): Cells {
  // Fast path: most records have no quotes.
  if (!text.includes('"')) return { cells: text.split(delimiter) }
  try {
    const [cells = []] = parse(text, {
      delimiter,
      relax_column_count: true,
      record_delimiter: '\r\n\r\n',
    }) as string[][]
    return { cells }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return { problem: CSV_PROBLEMS[error.code] ?? `is not CSV (${error.code})` }
  }
}

const CSV_PROBLEMS: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'has an unclosed quote; the file may be truncated here',
  CSV_INVALID_CLOSING_QUOTE: 'has text after a closing quote; double the quotes inside a field',
  INVALID_OPENING_QUOTE: 'has a quote in the middle of an unquoted field',
}

async function* readNdjson(file: string, onBytes: (bytes: number) => void): AsyncGenerator<Row> {
  await rejectUtf16(file)
  for await (const { number: line, text, ended } of textLines(file, onBytes)) {
    if (text.length > MAX_ROW_LENGTH) yield { line, problem: 'is longer than a million characters' }
    else if (text.trim() !== '') yield jsonRow(line, text, ended)
  }
}

/** The lines of a file, numbered from 1, without line endings and byte order mark. */
async function* textLines(file: string, onBytes: (bytes: number) => void): AsyncGenerator<Line, undefined> {
  let number = 0
  for await (const { bytes, ended } of splitLines(readChunks(file, onBytes))) {
    number++
    const text = bytes.toString('utf8').replace(/\r$/, '')
    yield { number, text: number === 1 ? text.replace('\uFEFF', '') : text, ended }
  }
}

function jsonRow(line: number, text: string, ended: boolean): Row {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return checkEncoding(line, { ...value })
    }
    return { line, problem: 'is not a JSON object' }
  } catch {
    const problem = ended ? 'is not JSON' : 'is not JSON; the file may be truncated in this last line'
    return { line, problem }
  }
}

/** Rejects text that contains U+FFFD, which replaces bytes that are not UTF-8. */
function checkEncoding(line: number, fields: Record<string, unknown>): Row {
  for (const [name, value] of Object.entries(fields)) {
    if (`${name}${typeof value === 'string' ? value : ''}`.includes('\uFFFD')) {
      return { line, problem: `${name} is not UTF-8; save the file as UTF-8` }
    }
  }
  return { line, fields }
}

/** Splits at line feeds only: U+2028 is valid in a JSON string. A line that is too long is truncated, not buffered. */
async function* splitLines(source: AsyncIterable<Buffer>): AsyncGenerator<{ bytes: Buffer; ended: boolean }> {
  let rest: Buffer[] = []
  let held = 0
  for await (const piece of source) {
    let start = 0
    for (let at = piece.indexOf(10); at !== -1; at = piece.indexOf(10, start)) {
      yield { bytes: Buffer.concat([...rest, piece.subarray(start, at)]), ended: true }
      rest = []
      held = 0
      start = at + 1
    }
    if (held <= MAX_ROW_LENGTH) rest.push(piece.subarray(start))
    held += piece.length - start
  }
  if (held > 0) yield { bytes: Buffer.concat(rest), ended: false }
}
