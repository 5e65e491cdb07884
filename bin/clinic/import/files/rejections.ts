/** Writes rows of a file that need a correction in the format of the file, in UTF-8, so that they can be imported as they are. */
import { randomBytes } from 'node:crypto'
import { constants, rmSync, statSync } from 'node:fs'
import { access, type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { foldName } from '../../../../shared/domain/closest-name.ts'
import { cellValue, cellWriter } from './csv-cells.ts'
import { ImportFileError } from './import-errors.ts'
import { digestOf } from './import-paths.ts'
import type { FileFormat, SourceRow } from './row.ts'

/** Rows that were rejected, or imported without values that were invalid. */
type RowsToCorrect = 'rejected' | 'left-out'

/**
 * Path of the file that such rows of a file are written to: `patients.rejected.csv`, and for the rows of that file
 * `patients.rejected-2.csv`.
 * @param entity the entity, if the file has rows of several
 */
export function rowsFile(file: string, rows: RowsToCorrect, entity?: string): string {
  const [, stem = file, extension = ''] = /^(.*)\.(\w+)$/.exec(file) ?? []
  const [, before = '', count = '1'] = new RegExp(`^(.*)\\.${rows}(?:-(\\d+))?$`).exec(stem) ?? []
  if (before !== '') return `${before}.${rows}-${Number(count) + 1}.${extension}`
  return `${stem}${entity === undefined || stem.includes(`.${entity}.`) ? '' : `.${entity}`}.${rows}.${extension}`
}

/**
 * Opens a temporary file when the first row is rejected: the same file may be imported twice at once. The temporary file gets the
 * final name when all rows are in it, and replaces the file of an earlier run: a file of this name is complete. Only its owner
 * can read it.
 * @param isRead whether a field is read from a column of the file, by its folded name
 */
export function rowsWriter(path: string, format: FileFormat, isRead: (column: string) => boolean) {
  const unfinished = `${path}.${randomBytes(4).toString('hex')}.unfinished`
  const removeAtExit = () => rmSync(unfinished, { force: true })
  const reasonName = isRead(REASONS[0]) ? REASONS[1] : REASONS[0]
  const lineOf = format.kind === 'csv' ? csvLine(format, reasonName) : jsonLine(reasonName)
  let handle: FileHandle | undefined
  const write = (text: string) => handle?.write(text)

  async function start(): Promise<void> {
    process.once('exit', removeAtExit)
    handle = await open(unfinished, 'wx', 0o600)
    // The mark overrules --encoding and the encoding of the map, which the rows are imported with again.
    await write(`\uFEFF${format.kind === 'csv' ? csvHead(format, reasonName) : ''}`)
  }

  return {
    async write(row: SourceRow, reason: string): Promise<void> {
      if (!handle) await start()
      for (const one of [row, ...(row.further ?? [])]) await write(lineOf(one, reason))
    },
    /** Completes the file. Without rejected rows, deletes the file of an earlier run. */
    async finish(): Promise<void> {
      if (!handle) return rm(path, { force: true })
      await handle.close()
      handle = undefined
      await rename(unfinished, path)
      process.off('exit', removeAtExit)
    },
    /** In a trial, in place of `finish`: the path, if that would replace another file of an earlier run. @throws if it cannot */
    async replaced(): Promise<string | null> {
      const found = statSync(path, { throwIfNoEntry: false })
      if (!found) return null
      if (!found.isFile()) throw new ImportFileError(`${path} is not a file`)
      await access(dirname(path), constants.W_OK)
      return handle && (await digestOf(path)) === (await digestOf(unfinished)) ? null : path
    },
    /** Deletes what was written, unless it was completed. */
    async [Symbol.asyncDispose](): Promise<void> {
      await handle?.close()
      await rm(unfinished, { force: true })
      process.off('exit', removeAtExit)
    },
  }
}

/** The names that the column that is added can have: the second one in files whose own column `reason` is read. */
const REASONS = ['reason', 'rejected_because'] as const

export const isReason = (folded: string): boolean => REASONS.some((name) => name === folded)

type Reason = (typeof REASONS)[number]

type Csv = FileFormat & { readonly kind: 'csv' }

/** The positions of the columns, except the column with the reason of an earlier rejection. */
const keptColumns = ({ header }: Csv, reason: Reason): number[] =>
  [...header.keys()].filter((at) => foldName(header[at] ?? '') !== reason)

/** The first lines of a file of rejected rows. */
function csvHead(format: Csv, reason: Reason): string {
  const { delimiter, header, hasSeparatorLine } = format
  const names = [...keptColumns(format, reason).map((at) => header[at] ?? ''), reason]
  return `${hasSeparatorLine ? `sep=${delimiter}\n` : ''}${names.map(cellWriter(delimiter)).join(delimiter)}\n`
}

/** A row that cannot be read is in the first column as it is: no other value must get into a column that it was not in. */
function csvLine(format: Csv, name: Reason): (row: SourceRow, reason: string) => string {
  const { delimiter } = format
  const write = cellWriter(delimiter)
  const kept = keptColumns(format, name)
  return ({ cells, text = '' }, reason) => {
    const values = kept.map((at, index) => (cells ? cellValue(cells[at] ?? '') : index === 0 ? text : ''))
    return `${[...values, reason].map(write).join(delimiter)}\n`
  }
}

/** The text of the row with the reason as its last field: numbers stay as they are written. */
function jsonLine(name: Reason): (row: SourceRow, reason: string) => string {
  const earlier = new RegExp(`,\\s*"${name}"\\s*:\\s*"(?:[^"\\\\]|\\\\.)*"\\s*\\}$`)
  return ({ text = '', ...row }, reason) => {
    const added = `"${name}":${JSON.stringify(reason)}}`
    const object = text.trim().replace(earlier, '}')
    if (!('values' in row)) return `{"text":${JSON.stringify(text)},${added}\n`
    return `${object.slice(0, -1)}${/^\{\s*\}$/.test(object) ? '' : ','}${added}\n`
  }
}
