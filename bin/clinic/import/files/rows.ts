/** Reads import files as streams: one row at a time, with the line it starts on, never the whole file. */
import { checkCharacters, openCsv, TOO_LONG } from './csv.ts'
import { detectEncoding, type Encoding, type TextEncoding } from './encoding.ts'
import { ImportFileError } from './import-errors.ts'
import type { FileFormat, SourceRow } from './row.ts'
import { type Line, MAX_LINE_LENGTH, textLines } from './text-lines.ts'

const CSV = /\.(csv|tsv|txt)$/i
const NDJSON = /\.(ndjson|jsonl)$/i

/** @throws ImportFileError unless the extension is one of a text of columns, or of NDJSON */
export function requireExtension(file: string): void {
  if (!CSV.test(file) && !NDJSON.test(file))
    throw new ImportFileError(`${file}: the name must end in .csv, .tsv, .txt, .ndjson or .jsonl`)
}

/**
 * Reads the format of a file, and returns how to read its rows, and how to stop before their end. `onChunk` is called with
 * each chunk of the file.
 * @param stated The encoding that the file should have, or the one that was detected before.
 * @throws ImportFileError for an empty file, another encoding, or a CSV file without a header
 */
export async function openRows(
  file: string,
  stated: Encoding | TextEncoding | undefined,
  onChunk: (chunk: Buffer) => void = () => {},
): Promise<{ format: FileFormat; rows: AsyncGenerator<SourceRow>; close: () => Promise<unknown> }> {
  requireExtension(file)
  const encoding = typeof stated === 'object' ? stated : await detectEncoding(file, stated)
  const lines = textLines(file, encoding.encoding, onChunk)
  const close = () => lines.return(undefined)
  if (CSV.test(file)) return { ...(await openCsv(file, lines, encoding)), close }
  const { encoding: name, hasMark } = encoding
  return { format: { encoding: name, hasMark, kind: 'ndjson' }, rows: readNdjson(lines, name), close }
}

async function* readNdjson(
  lines: AsyncGenerator<Line, undefined>,
  encoding: Encoding,
): AsyncGenerator<SourceRow> {
  for await (const { number: line, text, ended } of lines) {
    if (text.length > MAX_LINE_LENGTH) yield { line, problem: TOO_LONG, text: '' }
    else if (text.trim() !== '') yield { ...jsonRow(line, text, ended, encoding), text }
  }
}

function jsonRow(line: number, text: string, ended: boolean, encoding: Encoding): SourceRow {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return checkCharacters(line, { ...value }, encoding)
    return { line, problem: 'is not a JSON object' }
  } catch {
    const problem = ended ? 'is not JSON' : 'is not JSON; the file may be truncated in this last line'
    return { line, problem }
  }
}
