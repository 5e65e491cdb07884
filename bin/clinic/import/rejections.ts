/** Writes the rejected rows of a file in the format of the file, so that they can be corrected and imported as they are. */
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { encodeText } from './encode-text.ts'
import { foldedName } from './field-names.ts'
import type { FileFormat, SourceRow } from './row.ts'

/** Path of the file that the rejected rows of a file are written to. */
export const rejectedFile = (file: string): string => file.replace(/\.(\w+)$/, '.rejected.$1')

/** The name of the column that is added. */
const REASON = 'reason'

/**
 * Opens a temporary file when the first row is rejected. It gets its name when all rows are in it, in place of that of an earlier run:
 * a file of this name is complete. Only its owner can read it.
 */
export function rejectionWriter(file: string, format: FileFormat) {
  const path = rejectedFile(file)
  const unfinished = `${path}.unfinished`
  const lineOf = format.kind === 'csv' ? csvLine(format) : jsonLine
  let handle: FileHandle | undefined
  const write = (text: string) => handle?.write(encodeText(text, format.encoding))

  async function start(): Promise<void> {
    await rm(unfinished, { force: true })
    handle = await open(unfinished, 'w', 0o600)
    if (format.hasMark) await write('\uFEFF')
    if (format.kind === 'csv') await write(headOf(format))
  }

  return {
    async write(row: SourceRow, reason: string): Promise<void> {
      if (!handle) await start()
      await write(lineOf(row, reason))
    },
    /** Completes the file. Without rejected rows, deletes that of an earlier run. */
    async finish(): Promise<void> {
      if (!handle) return rm(path, { force: true })
      await handle.close()
      handle = undefined
      await rename(unfinished, path)
    },
    /** Deletes what was written, unless it was completed. */
    async [Symbol.asyncDispose](): Promise<void> {
      if (!handle) return
      await handle.close()
      await rm(unfinished, { force: true })
    },
  }
}

type Csv = FileFormat & { readonly kind: 'csv' }

/** The positions of the columns other than that of an earlier rejection. */
const keptColumns = ({ header }: Csv): number[] =>
  [...header.keys()].filter((at) => foldedName(header[at] ?? '') !== REASON)

function headOf(format: Csv): string {
  const { delimiter, header, hasSeparatorLine } = format
  const names = [...keptColumns(format).map((at) => header[at] ?? ''), REASON]
  return `${hasSeparatorLine ? `sep=${delimiter}\n` : ''}${names.map(quoteFor(delimiter)).join(delimiter)}\n`
}

/** A row that cannot be read is in the first column as it is: no other value must get into a column that it was not in. */
function csvLine(format: Csv): (row: SourceRow, reason: string) => string {
  const { delimiter } = format
  const kept = keptColumns(format)
  return ({ cells, text = '' }, reason) => {
    const values = kept.map((at, index) => (cells ? (cells[at] ?? '') : index === 0 ? text : ''))
    return `${[...values, reason].map(quoteFor(delimiter)).join(delimiter)}\n`
  }
}

const quoteFor =
  (delimiter: string) =>
  (cell: string): string =>
    cell.includes(delimiter) || /["\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell

const EARLIER_REASON = /,\s*"reason"\s*:\s*"(?:[^"\\]|\\.)*"\s*\}$/

/** The text of the row with the reason as its last field: numbers stay as they are written. */
function jsonLine({ text = '', ...row }: SourceRow, reason: string): string {
  const added = `"${REASON}":${JSON.stringify(reason)}}`
  const object = text.trim().replace(EARLIER_REASON, '}')
  if (!('values' in row)) return `{"text":${JSON.stringify(text)},${added}\n`
  return `${object.slice(0, -1)}${/^\{\s*\}$/.test(object) ? '' : ','}${added}\n`
}
