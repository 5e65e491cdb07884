/** Reads records of CSV: one at a time, with the line it starts on, never the whole file. */

import { ColumnSums, SUM_PROBLEM } from './column-sums.ts'
import { CSV_PROBLEMS, cellsOf, cellValue, strayQuoteCells, UNCLOSED } from './csv-cells.ts'
import { type Encoding, shownEncoding, type TextEncoding } from './encoding.ts'
import { ImportFileError } from './import-errors.ts'
import type { FileFormat, SourceRow } from './row.ts'
import { type Line, MAX_LINE_LENGTH } from './text-lines.ts'

type CsvFormat = FileFormat & { readonly kind: 'csv' }

/** Maximum length of a record with line breaks inside quotes. A longer one has an unclosed quote. */
const MAX_QUOTED_LENGTH = 64_000

type LineSource = { next: () => Promise<Line | undefined>; pushBack: (lines: readonly Line[]) => void }

/** Reads the header, and returns how to read the rows. @throws ImportFileError for a file without a header */
export async function openCsv(
  file: string,
  lines: AsyncGenerator<Line, undefined>,
  encoding: TextEncoding,
): Promise<{ format: CsvFormat; rows: AsyncGenerator<SourceRow> }> {
  const waiting: Line[] = []
  const source: LineSource = {
    next: async () => waiting.shift() ?? (await lines.next()).value,
    pushBack: (again) => void waiting.unshift(...again),
  }
  let first = await nextFilledLine(source)
  const stated = /^"?sep=([,;:|\t])"?$/i.exec(first?.text ?? '')?.[1]
  if (stated !== undefined) first = await nextFilledLine(source)
  first = first && (await skipTitles(first, source))
  if (!first) throw new ImportFileError(`${file}: the file is empty`)
  const more = await readContinuation(first, source.next)
  const text = [first, ...more].map((line) => line.text).join('\n')
  const delimiter = stated ?? delimiterOf(text)
  const { cells, code } = cellsOf(text, delimiter)
  if (!cells)
    throw new ImportFileError(`${file}:${first.number}: the header ${CSV_PROBLEMS[code] ?? 'is not CSV'}`)
  if (text.includes('\uFFFD'))
    throw new ImportFileError(
      `${file}:${first.number}: the header has characters that are not ${shownEncoding(encoding.encoding)}`,
    )
  const header = cells.map((name) =>
    cellValue(name)
      .trim()
      .replace(/\s*\n\s*/g, ' '),
  )
  while (header.at(-1) === '') header.pop()
  const format: CsvFormat = {
    ...encoding,
    kind: 'csv',
    delimiter,
    hasSeparatorLine: stated !== undefined,
    header,
    headerLine: first.number,
  }
  return { format, rows: readRecords(source, format) }
}

async function nextFilledLine({ next }: LineSource): Promise<Line | undefined> {
  for (let line = await next(); line; line = await next()) if (line.text.trim() !== '') return line
  return undefined
}

/** The maximum number of lines above the header, such as the name of a report and its date. */
const MAX_TITLES = 10

/**
 * The header: the first line after those of one cell each, and after a block that a blank line ends and whose lines have at most half
 * as many cells as the next line. The first line of all if no such line follows.
 */
async function skipTitles(first: Line, source: LineSource): Promise<Line> {
  const lines = [first]
  const filled = [first]
  while (filled.length <= MAX_TITLES) {
    const line = await source.next()
    if (!line) break
    lines.push(line)
    if (line.text.trim() !== '') filled.push(line)
  }
  const header = filled[headerAt(filled)] ?? first
  source.pushBack(lines.slice(lines.indexOf(header) + 1))
  return header
}

function headerAt(lines: readonly Line[]): number {
  const start = lines.findIndex(({ text }) => !isTitle(text))
  const end = lines.findIndex(({ number }, at) => at >= start && (lines[at + 1]?.number ?? 0) > number + 1)
  const block = lines.slice(Math.max(start, 0), end + 1)
  const next = lines[end + 1]
  const isBlock = block.every(
    ({ text }) => !hasOpenQuote(text) && countCells(text) * 2 <= countCells(next?.text ?? ''),
  )
  return start >= 0 && end >= 0 && isBlock ? end + 1 : start
}

const isTitle = (text: string): boolean =>
  !hasOpenQuote(text) && !/[,;\t|]/.test(text.replace(/"[^"]*"/g, 'x').replace(/[,;\t|\s]+$/, ''))

/** A record that cannot be read. */
type Broken = { readonly line: number; readonly problem: string; text: string; readonly isOpen: boolean }

/**
 * Reads more lines only while a quote is open. If those lines are not one record, only the first is rejected, and reading continues
 * with the second: one stray quote costs one row. Lines that are too short to be records belong to the rejected one before them.
 */
async function* readRecords(source: LineSource, format: CsvFormat): AsyncGenerator<SourceRow> {
  const columns = new ColumnSums()
  let broken: Broken | undefined
  for (let line = await source.next(); line; line = await source.next()) {
    if (line.text.trim() === '') continue
    const lines = [line, ...(await readContinuation(line, source.next))]
    let record = recordOf(lines, format)
    if ('problem' in record) {
      source.pushBack(lines.slice(1))
      const cells = await cellsWithStrayQuote(line, source, format)
      if (cells) record = { cells, hasStrayQuote: true }
    }
    if (broken?.isOpen && 'problem' in record && record.isShort) {
      broken.text += `\n${line.text}`
      continue
    }
    if (broken) yield rejected(broken)
    broken = 'problem' in record ? { ...record, line: line.number, text: line.text } : undefined
    if (!('cells' in record) || isBlank(record.cells) || isHeader(record.cells, format)) continue
    if (columns.isSum(record.cells)) yield { line: line.number, problem: SUM_PROBLEM, cells: record.cells }
    else {
      const row = csvRow(line.number, record.cells, format)
      yield record.hasStrayQuote ? { ...row, hasStrayQuote: true } : row
    }
  }
  if (broken) yield rejected(broken)
}

const rejected = ({ line, problem, text }: Broken): SourceRow => ({ line, problem, text })

/**
 * The cells of a line with quotes that quote no cell. Null unless they are as many as the header has. If a quote is open, the next line
 * must be a record: otherwise the quoted text may continue there, or the file may end within it.
 */
async function cellsWithStrayQuote(
  { text }: Line,
  source: LineSource,
  { delimiter, header }: CsvFormat,
): Promise<string[] | null> {
  const cells = strayQuoteCells(text, delimiter)
  if (cells?.length !== header.length) return null
  if (!hasOpenQuote(text)) return cells
  const next = await source.next()
  if (!next) return null
  source.pushBack([next])
  return cellsOf(next.text, delimiter).cells?.length === header.length ? cells : null
}

/** Whether a row repeats the header, as each printed page does. */
const isHeader = (cells: readonly string[], { header }: CsvFormat): boolean =>
  header.length > 1 && header.every((name, at) => cells[at]?.trim() === name)

const isBlank = (cells: readonly string[]): boolean => cells.every((cell) => cell.trim() === '')

/** The following lines while a quote is open, up to the maximum length of a record. */
async function readContinuation(first: Line, next: LineSource['next']): Promise<Line[]> {
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

/** Spreadsheets write semicolons in many locales, databases write tabs. */
function delimiterOf(header: string): string {
  const unquoted = header.replace(/"[^"]*"/g, '')
  const count = (delimiter: string) => unquoted.split(delimiter).length
  return [',', ';', '\t', '|'].reduce((best, next) => (count(next) > count(best) ? next : best))
}

const countCells = (line: string): number => line.replace(/"[^"]*"/g, '').split(delimiterOf(line)).length

type CsvRecord =
  | { readonly cells: readonly string[]; readonly hasStrayQuote?: boolean }
  | {
      readonly problem: string
      /** Whether a quote is not closed, so that further lines may belong to it. */
      readonly isOpen: boolean
      /** Whether it has fewer cells than the header. */
      readonly isShort: boolean
    }

function recordOf(lines: readonly Line[], { delimiter, header }: CsvFormat): CsvRecord {
  const text = lines.map((line) => line.text).join('\n')
  const isOpen = lines.length > 1
  if (text.length > MAX_LINE_LENGTH) return { problem: TOO_LONG, isOpen, isShort: false }
  const { cells, code } = hasRecords(lines, delimiter, header.length)
    ? { code: UNCLOSED }
    : cellsOf(text, delimiter)
  if (!cells) {
    const isUnclosed = isOpen || code === UNCLOSED
    const problem = CSV_PROBLEMS[isUnclosed ? UNCLOSED : code] ?? `is not CSV (${code})`
    return { problem, isOpen: isUnclosed, isShort: false }
  }
  const count = header.length
  if (isBlank(cells) || (cells.length >= count && isBlank(cells.slice(count)))) return { cells }
  const extra = cells.findIndex((cell, at) => at >= count && cell.trim() !== '')
  const problem =
    cells.length < count
      ? `has ${cells.length} columns, but the header has ${count}`
      : `has a value in column ${extra + 1}, but the header has ${count} columns`
  return { problem, isOpen, isShort: cells.length < count }
}

/** Whether lines within quotes are records themselves: as many cells, and ids alike. Then the quote that closes them is another's. */
function hasRecords(lines: readonly Line[], delimiter: string, count: number): boolean {
  const [id, ...ids] = lines.slice(0, -1).map(({ text }) => {
    const cells = text.split(delimiter)
    return cells.length === count ? (cells[0] ?? '').replace(/\d+/g, '0').replace(/\p{L}+/gu, 'a') : null
  })
  return count > 1 && id != null && ids.includes(id)
}

export const TOO_LONG = 'is longer than a million characters'

function csvRow(line: number, cells: readonly string[], { header, encoding }: CsvFormat): SourceRow {
  const values = Object.fromEntries(
    header.map((name, at) => {
      const cell = cells[at] ?? ''
      return [name, cell.trim() === '' ? null : cellValue(cell)]
    }),
  )
  return { ...checkCharacters(line, values, encoding), cells: cells.slice(0, header.length) }
}

/** Rejects text that contains U+FFFD, which replaces bytes that do not fit the encoding. */
export function checkCharacters(
  line: number,
  values: { readonly [name: string]: unknown },
  encoding: Encoding,
): SourceRow {
  for (const [name, value] of Object.entries(values)) {
    if (`${name}${typeof value === 'string' ? value : ''}`.includes('\uFFFD'))
      return { line, problem: `${name} has characters that are not ${shownEncoding(encoding)}` }
  }
  return { line, values }
}
