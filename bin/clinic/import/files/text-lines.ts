import { createReadStream } from 'node:fs'
import { ImportFileError } from './problems.ts'

/** A physical line of a file. */
export type Line = {
  readonly number: number
  readonly text: string
  /** False for a last line without a line ending. */
  readonly ended: boolean
}

/** Maximum length of a line, in characters. The rest of a longer one is not read into memory. */
export const MAX_LINE_LENGTH = 1_000_000

/** What text has that is read in another encoding than its own: U+FFFD for bytes that are not valid, and control characters of Latin-1. */
const MISREAD = /[\u0080-\u009f\ufffd]/

/**
 * The lines of a file, numbered from 1, without line endings and byte order marks. A line ends at a line feed only: U+2028 is valid
 * in a JSON string. In a file without line feeds, such as a file of an old Mac, a line ends at a carriage return.
 * @throws ImportFileError for a line that is not in the encoding
 */
export async function* textLines(file: string, encoding: string): AsyncGenerator<Line, undefined> {
  const decoder = new TextDecoder(encoding)
  let end: '\n' | '\r' | undefined
  let number = 0
  let rest = ''
  const line = (given: string, ended: boolean): Line => {
    const text = (number++ === 0 ? given.replace(/^\uFEFF+/, '') : given).replace(/\r$/, '')
    if (MISREAD.test(text) || text.includes('\0'))
      throw new ImportFileError(
        `${file}:${number}: is not text in ${encoding}: save the file as UTF-8 or name its encoding with --encoding`,
      )
    return { number, text, ended }
  }
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    const text = decoder.decode(chunk, { stream: true })
    end ??= text.includes('\n') || !text.includes('\r') ? '\n' : '\r'
    const pieces = text.split(end)
    for (const piece of pieces.slice(0, -1)) {
      yield line(rest + piece, true)
      rest = ''
    }
    if (rest.length <= MAX_LINE_LENGTH) rest += pieces.at(-1) ?? ''
  }
  rest += decoder.decode()
  if (rest !== '') yield line(rest, false)
}
