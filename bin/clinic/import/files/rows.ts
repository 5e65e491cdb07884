/** Reads import files as streams: one row at a time, with the line it starts on, never the whole file. */
import { open } from 'node:fs/promises'
import { InvalidArgumentError } from 'commander'
import { openCsv } from './csv.ts'
import { ImportFileError } from './problems.ts'
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
 * Reads the format of a file, and returns how to read its rows, and how to stop before their end.
 * @param stated The encoding of the file, unless it has a byte order mark.
 * @throws ImportFileError for text that is not in the encoding, or is not CSV, also while rows are read
 */
export async function openRows(
  file: string,
  stated = 'utf-8',
): Promise<{ format: FileFormat; rows: AsyncGenerator<SourceRow>; close: () => Promise<unknown> }> {
  requireExtension(file)
  const encoding = (await markedEncoding(file)) ?? stated
  const lines = textLines(file, encoding)
  const close = () => lines.return(undefined)
  if (CSV.test(file)) return { ...(await openCsv(file, lines, encoding)), close }
  return { format: { encoding, kind: 'ndjson' }, rows: readNdjson(lines), close }
}

async function* readNdjson(lines: AsyncGenerator<Line, undefined>): AsyncGenerator<SourceRow> {
  for await (const { number: line, text, ended } of lines) {
    if (text.length > MAX_LINE_LENGTH)
      yield { line, problem: 'is longer than a million characters', text: '' }
    else if (text.trim() !== '') yield { ...jsonRow(line, text, ended), text }
  }
}

function jsonRow(line: number, text: string, ended: boolean): SourceRow {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { line, values: { ...value } }
    return { line, problem: 'is not a JSON object' }
  } catch {
    const problem = ended ? 'is not JSON' : 'is not JSON; the file may be truncated in this last line'
    return { line, problem }
  }
}

/** The value of `--encoding`, by a label such as `latin1`. @throws InvalidArgumentError for an unknown one */
export function parseEncoding(label: string): string {
  try {
    return new TextDecoder(label).encoding
  } catch {
    throw new InvalidArgumentError(
      'It must be an encoding such as windows-1252, iso-8859-2, shift_jis or utf-16le.',
    )
  }
}

/** The encoding that the byte order mark of a file names; null without one. */
export async function markedEncoding(file: string): Promise<string | null> {
  await using handle = await open(file)
  const { buffer } = await handle.read({ buffer: Buffer.alloc(3) })
  const start = buffer.toString('hex')
  if (start.startsWith('fffe')) return 'utf-16le'
  if (start.startsWith('feff')) return 'utf-16be'
  return start === 'efbbbf' ? 'utf-8' : null
}
