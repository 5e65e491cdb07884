import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { formatList } from '../../../shared/sync/external-ids/resolve-references.ts'
import { cellWriter } from '../import/files/csv-cells.ts'
import type { ExportedFile } from './manifest.ts'

type Row = Readonly<Record<string, unknown>>

type Format = { readonly extension: string; readonly header: string; readonly line: (row: Row) => string }

/** Lines that are written to the stream at once. */
const LINES_PER_CHUNK = 500

/** The two formats of a file with the columns of an entity. */
export function formatsOf(ofEntity: readonly string[]): readonly [Format, Format] {
  const columns = ['external_id', ...ofEntity]
  return [
    { extension: 'ndjson', header: '', line: (row) => `${JSON.stringify(pick(row, columns))}\n` },
    {
      extension: 'csv',
      header: `${columns.join(',')}\n`,
      line: (row) => `${columns.map((name) => csvCell(name, row[name])).join(',')}\n`,
    },
  ]
}

const pick = (row: Row, columns: readonly string[]): Row =>
  Object.fromEntries(columns.map((name) => [name, row[name] ?? null]))

function csvCell(name: string, value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value))
    return writeCell(name.endsWith('_external_ids') ? formatList(value) : JSON.stringify(value))
  return writeCell(String(value))
}

/** Quotes a cell for every delimiter that a spreadsheet may guess. */
const writeCell = cellWriter(',;\t')

/** Writes a file that only its owner can read. */
export async function writeRows(
  path: string,
  { header, line }: Format,
  rows: Iterable<Row>,
): Promise<ExportedFile> {
  const stream = createWriteStream(path, { mode: 0o600 })
  const hash = createHash('sha256')
  let count = 0
  let bytes = 0
  const write = async (text: string) => {
    hash.update(text)
    bytes += Buffer.byteLength(text)
    if (!stream.write(text)) await once(stream, 'drain')
  }
  if (header) await write(header)
  let chunk = ''
  for (const row of rows) {
    chunk += line(row)
    if (++count % LINES_PER_CHUNK > 0) continue
    await write(chunk)
    chunk = ''
  }
  await write(chunk)
  stream.end()
  await finished(stream)
  return { rows: count, bytes, sha256: hash.digest('hex') }
}
