/** Reads records of CSV: one at a time, with the line it starts on, never the whole file. */
import { foldName } from '../../../../shared/domain/closest-name.ts'
import { CSV_PROBLEMS, cellsOf, cellValue, UNCLOSED } from './csv-cells.ts'
import { ImportFileError } from './problems.ts'
import { type FileFormat, HEADER_PROBLEM, REASON, type SourceRow, SUM_PROBLEM } from './row.ts'
import { type Line, MAX_LINE_LENGTH } from './text-lines.ts'

type CsvFormat = FileFormat & { readonly kind: 'csv' }

/** Maximum length of a record with line breaks inside quotes. A longer one has an unclosed quote. */
const MAX_QUOTED_LENGTH = 64_000

type NextLine = () => Promise<Line | undefined>

/** Reads the header, and returns how to read the rows. @throws ImportFileError for a file without a header */
export async function openCsv(
  file: string,
  lines: AsyncGenerator<Line, undefined>,
  encoding: string,
): Promise<{ format: CsvFormat; rows: AsyncGenerator<SourceRow> }> {
  const next: NextLine = async () => (await lines.next()).value
  let first = await nextFilledLine(next)
  const stated = /^"?sep=([,;:|\t])"?$/i.exec(first?.text ?? '')?.[1]
  if (stated !== undefined) first = await nextFilledLine(next)
  if (!first) throw new ImportFileError(`${file}: the file is empty`)
  const text = await withContinuation(first, next)
  const delimiter = stated ?? delimiterOf(text)
  const header = requireCells(`${file}:${first.number}`, text, delimiter).map((name) =>
    cellValue(name)
      .trim()
      .replace(/\s*\n\s*/g, ' '),
  )
  const width = header.length
  while (header.at(-1) === '') header.pop()
  const format: CsvFormat = {
    encoding,
    kind: 'csv',
    delimiter,
    hasSeparatorLine: stated !== undefined,
    header,
    headerLine: first.number,
  }
  return { format, rows: readRecords(file, next, format, width) }
}

async function nextFilledLine(next: NextLine): Promise<Line | undefined> {
  for (let line = await next(); line; line = await next()) if (line.text.trim() !== '') return line
  return undefined
}

/**
 * @param width of the header, with empty columns at its end
 * @throws ImportFileError at the first record that is not CSV: where the next one begins is unclear
 */
async function* readRecords(
  file: string,
  next: NextLine,
  format: CsvFormat,
  width: number,
): AsyncGenerator<SourceRow> {
  const { delimiter, header } = format
  // The reason of a rejected sum is no part of it.
  const ownColumns = [...header.keys()].filter((at) => foldName(header[at] ?? '') !== REASON)
  for (let first = await nextFilledLine(next); first; first = await nextFilledLine(next)) {
    const line = first.number
    const text = await withContinuation(first, next)
    const cells = requireCells(`${file}:${line}`, text, delimiter, header.length)
    if (cells.every((cell) => cell.trim() === '')) continue
    const problem = columnsProblem(cells, header.length, width)
    if (problem !== null) yield { line, problem, text }
    else if (header.every((name, at) => cells[at]?.trim() === name))
      yield { line, problem: HEADER_PROBLEM, cells }
    else if (isSum(ownColumns.map((at) => cells[at] ?? ''))) yield { line, problem: SUM_PROBLEM, cells }
    else yield { line, values: valuesOf(cells, header), cells: cells.slice(0, header.length) }
  }
}

const WORD =
  '(?:sub|zwischen|gesamt|del|slut|eind)?(?:totale?s?|totalt|totaux|totaal|totaalbedrag|summe?|summa|suma|somma|soma)|sum|somme|gesamt|' +
  'insgesamt|razem|ogółem|łącznie|toplam|összesen|celkem|spolu|ukupno|skupaj|yhteensä|i alt'

const WITH =
  'grand|sub|net|gross|overall|general|général|générale?|generale|generaal|geral|netto|brutto|bruto|amount|due|ttc|ht|complessivo|algemeen'

/** A label that is nothing but a sum: `Total care` is the name of something. */
const SUM = new RegExp(`^(?:(?:${WITH}) )*(?:${WORD})(?: (?:${WITH}))*[\\s:=]*$`, 'iu')

/** A number, also with what it counts: `32 patients`. */
const NUMBER = /^[^\p{L}]*\d[^\p{L}]*\p{L}*$/u

/** Whether a row has the label of a sum first, and otherwise few cells, or only numbers: a name such as `Soma` has the rest of a record. */
function isSum(cells: readonly string[]): boolean {
  const [label = '', ...numbers] = cells.map((cell) => cell.trim()).filter((cell) => cell !== '')
  const isSparse = (numbers.length + 1) * 2 <= cells.length
  const isPart = numbers.length < 2 || numbers.length + 1 < cells.length
  return SUM.test(label) && (isSparse || (isPart && numbers.every((number) => NUMBER.test(number))))
}

/** A line with the following ones while a quote is open, up to the maximum length of a record. */
async function withContinuation(first: Line, next: NextLine): Promise<string> {
  let { text } = first
  for (let isOpen = hasOpenQuote(text); isOpen && text.length <= MAX_QUOTED_LENGTH; ) {
    const line = await next()
    if (!line) break
    text += `\n${line.text}`
    isOpen = !hasOpenQuote(line.text)
  }
  return text
}

/** Whether the number of quotes is odd. Escaped quotes come in pairs. */
const hasOpenQuote = (text: string): boolean => (text.match(/"/g)?.length ?? 0) % 2 === 1

/** Spreadsheets write semicolons in many locales, databases write tabs. */
function delimiterOf(header: string): string {
  const unquoted = header.replace(/"[^"]*"/g, '')
  const count = (delimiter: string) => unquoted.split(delimiter).length
  return [',', ';', '\t', '|'].reduce((best, next) => (count(next) > count(best) ? next : best))
}

/**
 * The cells of a record.
 * @param count of the columns of the header, unless it is the header
 * @throws ImportFileError that names the line, and the column if it is known
 */
function requireCells(place: string, text: string, delimiter: string, count = 0): string[] {
  if (text.length > MAX_LINE_LENGTH)
    throw new ImportFileError(`${place}: is longer than a million characters`)
  const { cells, code, column } = cellsOf(text, delimiter)
  if (cells && !hasRows(cells, delimiter, count)) return cells
  const at = column === undefined ? '' : `column ${column} `
  const problem = CSV_PROBLEMS[code ?? UNCLOSED] ?? 'is not CSV'
  throw new ImportFileError(`${place}: ${at}${problem} (${code ?? UNCLOSED})`)
}

/** Columns that a line of prose has by chance: a line with more of them is a row. */
const MAX_CHANCE = 5

/**
 * Whether a cell with line breaks has rows: without its quotes, two lines would have the columns of the header, or of a few columns each
 * line, and ids alike.
 */
function hasRows(cells: readonly string[], delimiter: string, count: number): boolean {
  const at = cells.findIndex((cell) => cell.includes('\n'))
  if (at < 0 || count < 2) return false
  const lines = (cells[at] ?? '').split('\n').map((line) => line.split(delimiter))
  const rows = lines.map((parts, index) => [
    ...(index === 0 ? cells.slice(0, at) : []),
    ...parts,
    ...(index === lines.length - 1 ? cells.slice(at + 1) : []),
  ])
  const complete = rows.filter(({ length }) => length === count)
  if (count > MAX_CHANCE) return complete.length > 1
  return complete.length === rows.length && new Set(rows.map(([id = '']) => shapeOf(id))).size === 1
}

const shapeOf = (id: string): string => id.replace(/\d+/g, '0').replace(/\p{L}+/gu, 'a')

/** What is wrong with the number of cells. Only columns that the header has too may be empty at the end: others come of a comma in a cell. */
function columnsProblem(cells: readonly string[], count: number, width: number): string | null {
  const isComplete = cells.length >= count && cells.length <= width
  if (isComplete && cells.slice(count).every((cell) => cell.trim() === '')) return null
  return `has ${cells.length} columns, but the header has ${count}`
}

const valuesOf = (cells: readonly string[], header: readonly string[]) =>
  Object.fromEntries(
    header.map((name, at) => {
      const cell = cells[at] ?? ''
      return [name, cell.trim() === '' ? null : cellValue(cell)]
    }),
  )
