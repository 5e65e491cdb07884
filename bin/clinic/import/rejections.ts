/** Writes the rejected rows of a file in the format of the file, so that they can be corrected and imported as they are. */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { encodeText } from './encode-text.ts'
import { csvHead, csvLine, jsonLine } from './rejected-lines.ts'
import type { FileFormat, SourceRow } from './row.ts'

/** Path of the file that the rejected rows of a file are written to. */
export const rejectedFile = (file: string): string => file.replace(/\.(\w+)$/, '.rejected.$1')

/**
 * Opens a temporary file of its own when the first row is rejected: the same file may be imported twice at once. It gets its name when
 * all rows are in it, in place of that of an earlier run: a file of this name is complete. Only its owner can read it.
 */
export function rejectionWriter(file: string, format: FileFormat) {
  const path = rejectedFile(file)
  const unfinished = `${path}.${randomBytes(4).toString('hex')}.unfinished`
  const removeAtExit = () => rmSync(unfinished, { force: true })
  const lineOf = format.kind === 'csv' ? csvLine(format) : jsonLine
  let handle: FileHandle | undefined
  const write = (text: string) => handle?.write(encodeText(text, format.encoding))

  async function start(): Promise<void> {
    process.once('exit', removeAtExit)
    handle = await open(unfinished, 'wx', 0o600)
    if (format.hasMark) await write('\uFEFF')
    if (format.kind === 'csv') await write(csvHead(format))
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
      process.off('exit', removeAtExit)
    },
    /** Deletes what was written, unless it was completed. */
    async [Symbol.asyncDispose](): Promise<void> {
      await handle?.close()
      await rm(unfinished, { force: true })
      process.off('exit', removeAtExit)
    },
  }
}
