/**
 * Text as search compares it: folded, so that case, accents and special letters do not affect whether a patient is found.
 */

/** Letters that NFKD does not decompose, with the plain letters that people type instead. */
const LETTER_REPLACEMENTS: Record<string, string> = {
  ł: 'l',
  ø: 'o',
  ß: 'ss',
  ı: 'i',
  đ: 'd',
  æ: 'ae',
  œ: 'oe',
  ς: 'σ',
}
const LETTER = new RegExp(`[${Object.keys(LETTER_REPLACEMENTS).join('')}]`, 'g')

/** Applies NFKD, removes marks, lowercases, and maps special letters. `İSTANBUL` and `ıstanbul` both fold to `istanbul`. */
export function fold(text: string): string {
  // Fast path: nearly all stored text is ASCII.
  if (/^[\x20-\x7e]*$/.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(LETTER, (letter) => LETTER_REPLACEMENTS[letter] ?? letter)
}

/** The digits of an E.164 number. */
export const phoneDigits = (phone: string | null): string => phone?.replace(/\D/g, '') ?? ''

/** A parsed query: substrings that must all occur, or a sequence of phone digits. */
export type Needles =
  | { readonly kind: 'words'; readonly words: string[] }
  | { readonly kind: 'phone'; readonly digits: string }

const PHONE_QUERY = /^[\d\s+\-()./]+$/

/** Parses a query; null if it is empty or only white space. */
export function parseSearchQuery(query: string): Needles | null {
  const folded = fold(query)
  const words = folded.split(/\s/).filter((word) => word !== '')
  // A query that folds to nothing, such as a lone accent, matches no patient.
  if (words.length === 0) return query.trim() === '' ? null : { kind: 'words', words: [query.trim()] }
  if (PHONE_QUERY.test(folded)) {
    const digits = folded.replace(/\D/g, '')
    if (digits.length >= 3) return { kind: 'phone', digits: normalizeDialedDigits(folded) }
  }
  return { kind: 'words', words: [...new Set(words)] }
}

/** The digits of a dialed number without the international prefix `00`, the trunk prefix `0` or the `(0)` of `+44 (0)20`. */
function normalizeDialedDigits(query: string): string {
  const digits = query.replace(/^(\s*(?:\+|00)[\d\s.\-/]*)\(0\)/, '$1').replace(/\D/g, '')
  const national = digits.replace(/^00?/, '')
  return national.length >= 3 ? national : digits
}

/** The most bytes of UTF-8 in a line, so that the storage of any number of lines is bounded. */
export const MAX_LINE_BYTES = 460

/** No email address of ASCII characters is longer. */
const MAX_EMAIL_BYTES = 254

/**
 * A patient's line in the search index: name, phone digits and email, each folded. Tabs separate fields and line feeds
 * separate lines; needles contain neither, since they are split at white space. A line has at most
 * {@link MAX_LINE_BYTES}: the end of a name that is too long, which has at least 189 bytes then, is not searchable.
 */
export function searchLine(name: string, phone: string | null, email: string | null): string {
  const field = (text: string) => fold(text).replace(/\s+/g, ' ')
  const rest = `\t${phoneDigits(phone)}\t${truncate(field(email ?? ''), MAX_EMAIL_BYTES)}`
  return truncate(field(name), MAX_LINE_BYTES - byteLength(rest)) + rest
}

const encoder = new TextEncoder()

const byteLength = (text: string): number => encoder.encode(text).length

/** The start of a text, in whole characters, that has at most `max` bytes of UTF-8. */
function truncate(text: string, max: number): string {
  // A UTF-16 code unit has at most three bytes.
  if (text.length * 3 <= max) return text
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(max)).read)
}

/** Whether a line matches the needles. */
export function lineMatches(line: string, needles: Needles): boolean {
  if (needles.kind === 'words') return needles.words.every((word) => line.includes(word))
  const start = line.indexOf('\t') + 1
  return line.slice(start, line.indexOf('\t', start)).includes(needles.digits)
}
