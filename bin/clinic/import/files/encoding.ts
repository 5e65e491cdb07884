/** Finds out how the text of an import file is encoded, before any of its rows is read. */
import { createReadStream } from 'node:fs'
import { ImportFileError } from './import-errors.ts'

export const ENCODINGS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1252',
  'windows-1254',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1257',
  'iso-8859-2',
  'iso-8859-5',
  'iso-8859-7',
  'iso-8859-9',
  'iso-8859-15',
  'macintosh',
] as const

export type Encoding = (typeof ENCODINGS)[number]

export type TextEncoding = {
  readonly encoding: Encoding
  /** Whether the file starts with a byte order mark, which overrules any other statement. */
  readonly hasMark: boolean
}

/**
 * The encoding of a file: the one that its byte order mark names, or the stated one if the bytes are valid in it. A file of UTF-8 may have a few
 * broken characters, which reject their rows.
 * @throws ImportFileError if the file is empty or in another encoding, which the message names
 */
export async function detectEncoding(file: string, stated: Encoding | undefined): Promise<TextEncoding> {
  const encoding = stated ?? 'utf-8'
  const { mark, suggested: all, place } = await surveyFile(file, encoding)
  if (mark) return { encoding: mark, hasMark: true }
  const [suggested] = all ?? []
  if (suggested === undefined) return { encoding, hasMark: false }
  throw new ImportFileError(
    `${file}${place}: the file is not ${shownEncoding(encoding)}; it looks like ${shownEncoding(suggested)}. Add --encoding ${suggested}, ` +
      'or save the file as UTF-8.',
  )
}

/** The encodings that a file looks like, equally well: more than one if it has few letters beyond ASCII. @throws ImportFileError if it is empty */
export async function guessEncodings(file: string): Promise<readonly Encoding[]> {
  const { mark, suggested } = await surveyFile(file, 'utf-8')
  return mark ? [mark] : (suggested ?? ['utf-8'])
}

/** The encoding of a file by its mark, or another than the stated one that its bytes are in instead. @throws ImportFileError */
async function surveyFile(file: string, encoding: Encoding) {
  const survey = newSurvey()
  const decoder = new TextDecoder()
  let line = 1
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    const mark = survey.bytes === 0 ? markOf(chunk) : null
    if (mark) return { mark, suggested: null, place: '' }
    line = surveyChunk(survey, chunk, decoder, line)
  }
  if (survey.filled === 0) throw new ImportFileError(`${file}: the file is empty`)
  const suggested = otherEncodings(survey, encoding)
  const place =
    !suggested?.[0]?.startsWith('utf') && survey.firstInvalidLine !== null
      ? `:${survey.firstInvalidLine}`
      : ''
  return { mark: null, suggested, place }
}

export const shownEncoding = (encoding: Encoding): string =>
  encoding.startsWith('utf') ? encoding.toUpperCase() : encoding

function markOf(bytes: Buffer): Encoding | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 'utf-8' : null
}

/** The encodings that the bytes may be in instead; null if they can be in the stated one. */
function otherEncodings(survey: Survey, stated: Encoding): readonly Encoding[] | null {
  const { bytes, zeros, counts, valid, invalid } = survey
  const hasZeros = zeros.even + zeros.odd > bytes / 10
  const isUtf8 = invalid === 0 || invalid < valid
  if (stated.startsWith('utf-16')) return hasZeros ? null : isUtf8 ? ['utf-8'] : singleByte(counts)
  // Text in the alphabet of Latin has its zeros in the higher bytes.
  if (hasZeros) return [zeros.odd >= zeros.even ? 'utf-16le' : 'utf-16be']
  if (stated === 'utf-8') return isUtf8 ? null : singleByte(counts)
  return invalid === 0 && valid > 0 ? ['utf-8'] : null
}

/** The letters of languages beyond ASCII, by the encodings that their files are in. */
const ALPHABETS: readonly (readonly [Encoding, string])[] = [
  ...['äöüß', 'àâçéèêëîïôûùüÿœæ', 'áéíóúñüºª', 'àèéìòù', 'ãõáâàçéêíóôú', 'åäöé', 'æøåé', 'ëïéèü'].map(
    (letters): [Encoding, string] => ['windows-1252', letters],
  ),
  ['windows-1254', 'çğıiöşüâî'],
  ...['ąćęłńóśźż', 'áčďéěíňóřšťúůýž', 'áäčďéíĺľňóôŕšťúýž', 'áéíóöőúüű', 'čćđšž', 'ăâîşţ'].flatMap(
    (letters): [Encoding, string][] => [
      ['windows-1250', letters],
      ['iso-8859-2', letters],
    ],
  ),
]

/** The encodings of one byte a character in which most letters beyond ASCII are of one language. */
function singleByte(counts: readonly number[]): readonly Encoding[] {
  const letters = [...counts.keys()].filter((byte) => /[a-z]/i.test(String.fromCharCode(byte)))
  // The quotes « and » come in pairs, and their bytes are letters of iso-8859-2.
  const hasQuotes = counts[0xab] === counts[0xbb]
  const beyond = [...counts.keys()].filter(
    (byte) => byte >= 0x80 && !(hasQuotes && (byte === 0xab || byte === 0xbb)),
  )
  const sum = (bytes: readonly number[]) => bytes.reduce((total, byte) => total + (counts[byte] ?? 0), 0)
  if (sum(beyond) > sum(letters)) return ['windows-1251']
  const known = ALPHABETS.map(([encoding, alphabet]) => {
    const decoder = new TextDecoder(encoding)
    const letter = (byte: number) => decoder.decode(Uint8Array.of(byte)).toLowerCase()
    return { encoding, count: sum(beyond.filter((byte) => alphabet.includes(letter(byte)))) }
  })
  const most = Math.max(...known.map(({ count }) => count))
  return [...new Set(known.filter(({ count }) => count === most).map(({ encoding }) => encoding))]
}

/** Encodes text as a file has it. A character that the encoding lacks becomes a question mark. */
export function encodeText(text: string, encoding: Encoding): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text)
  if (encoding === 'utf-16le') return Buffer.from(text, 'utf16le')
  if (encoding === 'utf-16be') return Buffer.from(text, 'utf16le').swap16()
  const table = bytesOf(encoding)
  return Buffer.from([...text].map((letter) => table.get(letter) ?? 0x3f))
}

const tables = new Map<Encoding, ReadonlyMap<string, number>>()

/** The byte of each character in an encoding of one byte a character. */
function bytesOf(encoding: Encoding): ReadonlyMap<string, number> {
  const known = tables.get(encoding)
  if (known) return known
  const letters = new TextDecoder(encoding).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))
  const table = new Map([...letters].map((letter, byte) => [letter, byte]))
  tables.set(encoding, table)
  return table
}

/** Counts of the bytes of a file that distinguish encodings. */
type Survey = {
  bytes: number
  /** Bytes other than spaces and line endings. */
  filled: number
  zeros: { even: number; odd: number }
  /** How often each byte occurs. */
  readonly counts: number[]
  /** Characters beyond ASCII that are valid UTF-8, and sequences that are not. */
  valid: number
  invalid: number
  firstInvalidLine: number | null
}

/** A replacement character that the file itself contains. */
const REPLACEMENT = Buffer.from('\uFFFD')

const newSurvey = (): Survey => ({
  bytes: 0,
  filled: 0,
  zeros: { even: 0, odd: 0 },
  counts: Array(256).fill(0),
  valid: 0,
  invalid: 0,
  firstInvalidLine: null,
})

/** Returns the number of the line at the end of the chunk. */
function surveyChunk(
  survey: Survey,
  chunk: Buffer,
  decoder: InstanceType<typeof TextDecoder>,
  line: number,
): number {
  for (const [at, byte] of chunk.entries()) {
    if (byte > 0x20) survey.filled++
    if (byte === 0) survey.zeros[(survey.bytes + at) % 2 === 0 ? 'even' : 'odd']++
    survey.counts[byte] = (survey.counts[byte] ?? 0) + 1
  }
  survey.bytes += chunk.length
  const text = decoder.decode(chunk, { stream: true })
  const beyondAscii = text.match(/[^\0-\x7f]/gu)?.length ?? 0
  const replaced = text.split('\uFFFD').length - 1
  const invalid = Math.max(0, replaced - occurrences(chunk, REPLACEMENT))
  survey.valid += beyondAscii - replaced
  survey.invalid += invalid
  if (invalid > 0 && survey.firstInvalidLine === null)
    survey.firstInvalidLine = line + text.slice(0, text.indexOf('\uFFFD')).split('\n').length - 1
  return line + text.split('\n').length - 1
}

function occurrences(bytes: Buffer, part: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(part); at !== -1; at = bytes.indexOf(part, at + part.length)) count++
  return count
}
