/** Reads import files as streams: a row at a time, each with the line it began on, never the whole file. */
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { type CsvError, parse } from 'csv-parse'

/** A row's fields, or why it has none. `raw` is what stood there, as far as it could be read. */
export type Row =
  | { readonly line: number; readonly fields: Record<string, unknown> }
  | { readonly line: number; readonly problem: string; readonly raw: unknown }

/** The whole file is unusable; the message names it, and the line where there is one. */
export class ImportFileError extends Error {}

/** No record of any entity is longer, in characters or bytes. */
const LONGEST_ROW = 1_000_000

/** `onBytes` hears how many bytes each piece had. */
export type ReadRows = (file: string, onBytes: (bytes: number) => void) => AsyncGenerator<Row>

/** @throws ImportFileError when the extension is neither .csv nor .ndjson or .jsonl */
export function rowReader(file: string): ReadRows {
  if (/\.csv$/i.test(file)) return readCsv
  if (/\.(ndjson|jsonl)$/i.test(file)) return readNdjson
  throw new ImportFileError(`${file}: the name must end in .csv, .ndjson or .jsonl`)
}

/** @throws ImportFileError when the file begins as UTF-16 text does */
async function refuseUtf16(file: string): Promise<string> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(65_536), 0, 65_536, 0)
    const [first, second] = buffer
    if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
      throw new ImportFileError(`${file}:1: the file is UTF-16; save it as UTF-8`)
    }
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

function pieces(file: string, onBytes: (bytes: number) => void) {
  const stream = createReadStream(file)
  stream.on('data', (piece) => onBytes(piece.length))
  return stream
}

async function* readCsv(file: string, onBytes: (bytes: number) => void): AsyncGenerator<Row> {
  const [header = ''] = (await refuseUtf16(file)).split(/\r?\n/, 1)
  const skipped: CsvError[] = []
  const parser = parse({
    bom: true,
    delimiter: delimiterOf(header),
    info: true,
    max_record_size: LONGEST_ROW,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: (error) => {
      if (error) skipped.push(error)
    },
  })
  const source = pieces(file, onBytes)
  source.on('error', (error) => parser.destroy(error)).pipe(parser)
  let columns: string[] | undefined
  let line = 1
  for await (const { record, info } of parser as AsyncIterable<{
    record: string[]
    info: { lines: number }
  }>) {
    if (!columns) columns = columnsOf(record, file)
    else yield csvRow(columns, record, line)
    line = info.lines + 1
    // The parser runs ahead of us: what it skipped may lie on either side of this record.
    for (const error of skipped.splice(0)) yield brokenCsv(error, file, columns)
  }
  for (const error of skipped) yield brokenCsv(error, file, columns)
}

/** Spreadsheets of many countries write semicolons; databases write tabs. */
function delimiterOf(header: string): string {
  const count = (delimiter: string) => header.split(delimiter).length
  return [',', ';', '\t'].reduce((best, next) => (count(next) > count(best) ? next : best))
}

function columnsOf(record: string[], file: string): string[] {
  const columns = record.map((name) => name.trim())
  const twice = columns.find((name, index) => columns.indexOf(name) !== index)
  if (twice !== undefined) throw new ImportFileError(`${file}:1: the column "${twice}" stands twice`)
  return columns
}

function csvRow(columns: string[], record: string[], line: number): Row {
  if (record.length !== columns.length) {
    return {
      line,
      problem: `has ${record.length} columns where the header has ${columns.length}`,
      raw: record,
    }
  }
  const fields = Object.fromEntries(
    columns.map((name, index) => [name, record[index] === '' ? null : record[index]]),
  )
  return checked(line, fields, record)
}

function brokenCsv(error: CsvError, file: string, columns: string[] | undefined): Row {
  const { code, lines } = error as CsvError & { lines?: number }
  if (!columns)
    throw new ImportFileError(`${file}:1: the header cannot be read: ${CSV_PROBLEMS[code] ?? code}`)
  return { line: lines ?? 0, problem: CSV_PROBLEMS[code] ?? `is not CSV (${code})`, raw: null }
}

const CSV_PROBLEMS: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened and never closed; the file may be cut off here',
  CSV_INVALID_CLOSING_QUOTE: 'a closing quote is followed by more text; double the quotes inside a field',
  INVALID_OPENING_QUOTE: 'a quote stands in the middle of an unquoted field',
  CSV_MAX_RECORD_SIZE: 'is longer than a million characters; a quote may be missing',
}

async function* readNdjson(file: string, onBytes: (bytes: number) => void): AsyncGenerator<Row> {
  await refuseUtf16(file)
  let line = 0
  for await (const { bytes, ended } of lines(pieces(file, onBytes))) {
    line++
    const text = bytes
      .toString('utf8')
      .replace(line === 1 ? /^\uFEFF/ : /^$/, '')
      .trim()
    if (text === '') continue
    if (bytes.length > LONGEST_ROW) yield { line, problem: 'is longer than a million bytes', raw: null }
    else yield jsonRow(line, text, ended)
  }
}

function jsonRow(line: number, text: string, ended: boolean): Row {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return checked(line, { ...value }, value)
    }
    return { line, problem: 'is not a JSON object', raw: value }
  } catch {
    const problem = ended ? 'is not JSON' : 'is not JSON; the file seems cut off in this last line'
    return { line, problem, raw: text }
  }
}

/** U+FFFD stands where bytes were not UTF-8: such text is damaged already. */
function checked(line: number, fields: Record<string, unknown>, raw: unknown): Row {
  for (const [name, value] of Object.entries(fields)) {
    if (`${name}${typeof value === 'string' ? value : ''}`.includes('\uFFFD')) {
      return { line, problem: `${name} is not UTF-8; save the file as UTF-8`, raw }
    }
  }
  return { line, fields }
}

/** Lines by their line feed only: U+2028 is a legal character of a JSON string. An overlong line is cut, not held. */
async function* lines(source: AsyncIterable<Buffer>): AsyncGenerator<{ bytes: Buffer; ended: boolean }> {
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
    if (held <= LONGEST_ROW) rest.push(piece.subarray(start))
    held += piece.length - start
  }
  if (held > 0) yield { bytes: Buffer.concat(rest), ended: false }
}
