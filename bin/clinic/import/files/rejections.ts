/** Writes rejected rows of a file in the format of the file, in UTF-8, so that they can be imported as they are. */
import { createHash, randomBytes } from 'node:crypto'
import { accessSync, closeSync, constants, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { foldName } from '../../../../shared/domain/closest-name.ts'
import { parseJson } from '../../../../shared/sync/external-ids/resolve-references.ts'
import { cellValue, cellWriter } from './csv-cells.ts'
import { digestOf } from './import-paths.ts'
import { ImportFileError } from './problems.ts'
import { type FileFormat, REASON, type SourceRow } from './row.ts'
import { temporaryDatabase } from './temporary-database.ts'

/**
 * Path of the file that the rejected rows of a file are written to: `patients.rejected.csv`, and for the rows of that file
 * `patients.rejected-2.csv`.
 */
export function rejectedFile(file: string): string {
  const [, stem = file, extension = ''] = /^(.*)\.(\w+)$/.exec(file) ?? []
  const [, before = '', count = '1'] = /^(.*)\.rejected(?:-(\d+))?$/.exec(stem) ?? []
  return before === ''
    ? `${stem}.rejected.${extension}`
    : `${before}.rejected-${Number(count) + 1}.${extension}`
}

/** The rejected rows of a file, each once, with the reasons of all its records. */
export class RejectedRows implements Disposable {
  /** The file that they are written to. */
  readonly path: string
  readonly #format: FileFormat
  readonly #db = temporaryDatabase('CREATE TABLE rejected (line INTEGER PRIMARY KEY, row BLOB, reason TEXT)')
  readonly #add = this.#db.prepare(
    "INSERT INTO rejected VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET reason = reason || '; ' || excluded.reason",
  )

  constructor({ file, format }: { readonly file: string; readonly format: FileFormat }) {
    this.path = rejectedFile(file)
    this.#format = format
  }

  add({ line, cells, text, further }: SourceRow, reason: string): void {
    this.#add.run(line, serialize({ line, cells, text, further }), reason)
  }

  /** Writes the file for its owner alone, if there are rows. */
  finish(): void {
    const lines = this.#lines()
    if (lines === null) return
    // The same file may be imported twice at once.
    const unfinished = `${this.path}.${randomBytes(4).toString('hex')}.unfinished`
    const file = openSync(unfinished, 'wx', 0o600)
    try {
      for (const line of lines) writeSync(file, line)
      closeSync(file)
      renameSync(unfinished, this.path)
    } finally {
      rmSync(unfinished, { force: true })
    }
  }

  /** In a trial, in place of `finish`. @throws ImportFileError if there is another file, as of an earlier run */
  async requireReplaceable(): Promise<void> {
    const found = statSync(this.path, { throwIfNoEntry: false })
    if (!found) return
    if (!found.isFile()) throw new ImportFileError(`${this.path} is not a file`)
    accessSync(dirname(this.path), constants.W_OK)
    const hash = createHash('sha256')
    for (const line of this.#lines() ?? []) hash.update(line)
    if (hash.digest('hex') !== (await digestOf(this.path)))
      throw new ImportFileError(
        `${this.path} has rows of an earlier run: import it if they are corrected, and delete it`,
      )
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }

  /** The text of the file, whose byte order mark overrules `--encoding`; null without rows. */
  #lines(): Iterable<string> | null {
    const format = this.#format
    const lineOf = format.kind === 'csv' ? csvLine(format) : jsonLine
    const rejected = this.#db.prepare('SELECT row, reason FROM rejected ORDER BY line')
    if (rejected.get() === undefined) return null
    function* lines() {
      yield `\uFEFF${format.kind === 'csv' ? csvHead(format) : ''}`
      for (const { row, reason } of rejected.iterate() as Iterable<{ row: Uint8Array; reason: string }>) {
        const source = deserialize(row) as SourceRow
        for (const one of [source, ...(source.further ?? [])]) yield lineOf(one, reason)
      }
    }
    return lines()
  }
}

type Csv = FileFormat & { readonly kind: 'csv' }

/** The positions of the columns, except the column with the reason of an earlier rejection. */
const keptColumns = ({ header }: Csv): number[] =>
  [...header.keys()].filter((at) => foldName(header[at] ?? '') !== REASON)

/** The first lines of a file of rejected rows. */
function csvHead(format: Csv): string {
  const { delimiter, header, hasSeparatorLine } = format
  const names = [...keptColumns(format).map((at) => header[at] ?? ''), REASON]
  return `${hasSeparatorLine ? `sep=${delimiter}\n` : ''}${names.map(cellWriter(delimiter)).join(delimiter)}\n`
}

/** A row that cannot be read is in the first column as it is: no other value must get into a column that it was not in. */
function csvLine(format: Csv): (row: SourceRow, reason: string) => string {
  const { delimiter } = format
  const write = cellWriter(delimiter)
  const kept = keptColumns(format)
  return ({ cells, text = '' }, reason) => {
    const values = kept.map((at, index) => (cells ? cellValue(cells[at] ?? '') : index === 0 ? text : ''))
    return `${[...values, reason].map(write).join(delimiter)}\n`
  }
}

/** The text of the row with the reason as its last field: numbers stay as they are written. */
function jsonLine({ text = '' }: SourceRow, reason: string): string {
  const added = `"${REASON}":${JSON.stringify(reason)}}`
  const object = text.trim().replace(EARLIER_REASON, '}')
  if (!/^\s*\{/.test(text) || parseJson(text) === undefined)
    return `{"text":${JSON.stringify(text)},${added}\n`
  return `${object.slice(0, -1)}${/^\{\s*\}$/.test(object) ? '' : ','}${added}\n`
}

const EARLIER_REASON = new RegExp(`,\\s*"${REASON}"\\s*:\\s*"(?:[^"\\\\]|\\\\.)*"\\s*\\}$`)
