/**
 * What search compares (spec: "full-text search on name, phone and email"): folded text, so that case, accents
 * and the letters that Unicode does not decompose never stand between a receptionist and a patient.
 */

/** Letters that NFKD leaves whole, by the plain letters people type for them. */
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

/** NFKD, marks stripped, lower case, special letters mapped. `İSTANBUL` and `ıstanbul` both fold to `istanbul`. */
export function fold(text: string): string {
  // ASCII, nearly all of what is stored, needs none of the Unicode work.
  if (/^[\x20-\x7e]*$/.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(LETTER, (letter) => LETTER_REPLACEMENTS[letter] ?? letter)
}

/** Only the digits of a stored E.164 number. */
export const phoneDigits = (phone: string | null): string => phone?.replace(/\D/g, '') ?? ''

/** A search as the index runs it: substrings that must all occur, or one run of phone digits. */
export type Needles =
  | { readonly kind: 'words'; readonly words: string[] }
  | { readonly kind: 'phone'; readonly digits: string }

const PHONE_QUERY = /^[\d\s+\-()./]+$/

/** Reads a query; null when there is nothing to look for (empty or only white space). */
export function parseSearchQuery(query: string): Needles | null {
  const folded = fold(query)
  const words = folded.split(/\s+/).filter((word) => word !== '')
  // What folds to nothing (a lone accent) is still something to look for, and nobody has it.
  if (words.length === 0) return query.trim() === '' ? null : { kind: 'words', words: [query.trim()] }
  if (PHONE_QUERY.test(folded)) {
    const digits = folded.replace(/\D/g, '')
    if (digits.length >= 3) return { kind: 'phone', digits: normalizeDialedDigits(folded) }
  }
  return { kind: 'words', words: [...new Set(words)] }
}

/** The digits of a dialled number without the international `00`, the trunk `0` or the `(0)` of `+44 (0)20`. */
function normalizeDialedDigits(query: string): string {
  const digits = query.replace(/^(\s*(?:\+|00)[\d\s.\-/]*)\(0\)/, '$1').replace(/\D/g, '')
  const national = digits.replace(/^00?/, '')
  return national.length >= 3 ? national : digits
}

/**
 * A patient's line in the search index: name, phone digits, email, each folded. Tab and line feed separate fields
 * and lines; neither can be in a needle, since needles are split at white space.
 */
export function searchLine(name: string, phone: string | null, email: string | null): string {
  const field = (text: string) => fold(text).replace(/\s+/g, ' ')
  return `${field(name)}\t${phoneDigits(phone)}\t${field(email ?? '')}`
}

/** Whether one line answers the needles. */
export function lineMatches(line: string, needles: Needles): boolean {
  if (needles.kind === 'words') return needles.words.every((word) => line.includes(word))
  const start = line.indexOf('\t') + 1
  return line.slice(start, line.indexOf('\t', start)).includes(needles.digits)
}
