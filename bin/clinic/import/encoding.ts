/** Finds out how the text of an import file is encoded, before any of its rows is read. */
import { createReadStream } from 'node:fs'
import { ImportFileError } from './import-file-error.ts'
import { newSurvey, type Survey, surveyChunk } from './survey-bytes.ts'

export const ENCODINGS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1252',
  'windows-1254',
  'iso-8859-9',
] as const

export type Encoding = (typeof ENCODINGS)[number]

export type TextEncoding = {
  readonly encoding: Encoding
  /** Whether the file starts with a byte order mark, which overrules any other statement. */
  readonly hasMark: boolean
}

/**
 * The encoding of a file: that of its byte order mark, or the stated one if the bytes can be in it. A file of UTF-8 may have a few
 * broken characters, which reject their rows.
 * @throws ImportFileError if the file is empty or in another encoding, which the message names
 */
export async function detectEncoding(file: string, stated: Encoding | undefined): Promise<TextEncoding> {
  const survey = newSurvey()
  const decoder = new TextDecoder()
  let line = 1
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    const mark = survey.bytes === 0 ? markOf(chunk) : null
    if (mark) return { encoding: mark, hasMark: true }
    line = surveyChunk(survey, chunk, decoder, line)
  }
  if (survey.filled === 0) throw new ImportFileError(`${file}: the file is empty`)
  const encoding = stated ?? 'utf-8'
  const suggested = otherEncoding(survey, encoding)
  if (suggested === null) return { encoding, hasMark: false }
  const place =
    !suggested.startsWith('utf') && survey.firstInvalidLine !== null ? `:${survey.firstInvalidLine}` : ''
  throw new ImportFileError(
    `${file}${place}: the file is not ${shownEncoding(encoding)}; it looks like ${shownEncoding(suggested)}. Add --encoding ${suggested}, ` +
      'or save the file as UTF-8.',
  )
}

export const shownEncoding = (encoding: Encoding): string =>
  encoding.startsWith('utf') ? encoding.toUpperCase() : encoding

function markOf(bytes: Buffer): Encoding | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 'utf-8' : null
}

/** The encoding that the bytes are in instead; null if they can be in the stated one. */
function otherEncoding(survey: Survey, stated: Encoding): Encoding | null {
  const { bytes, zeros, turkish, valid, invalid } = survey
  const hasZeros = zeros.even + zeros.odd > bytes / 10
  const isUtf8 = invalid === 0 || invalid < valid
  if (stated.startsWith('utf-16')) return hasZeros ? null : isUtf8 ? 'utf-8' : singleByte(turkish)
  // Text in the alphabet of Latin has its zeros in the higher bytes.
  if (hasZeros) return zeros.odd >= zeros.even ? 'utf-16le' : 'utf-16be'
  if (stated === 'utf-8') return isUtf8 ? null : singleByte(turkish)
  return invalid === 0 && valid > 0 ? 'utf-8' : null
}

const singleByte = (turkish: number): Encoding => (turkish > 0 ? 'windows-1254' : 'windows-1252')
