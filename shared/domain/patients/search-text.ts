/**
 * Text as search compares it: folded, so that case, accents and special letters do not affect whether a patient is found.
 */
import { domainToUnicode } from 'node:url'

// What `fold` removes and replaces in lower-case text that NFKD has decomposed. docs/guides/pages-and-search.md has a table of it.

/**
 * Accents, of these scripts only: in others, marks are vowels or make another consonant. NFKD puts a space in front of an
 * accent without a letter. Invisible characters, apostrophes, quotation marks and the Arabic tatweel.
 */
const REMOVED =
  / ?[[\p{M}&&[\p{sc=Inherited}\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Arabic}\p{sc=Hebrew}]]--[\u3099\u309a\p{Default_Ignorable_Code_Point}]]|[\p{Default_Ignorable_Code_Point}\p{Pi}\p{Pf}'"`‚„\u02b9-\u02bf\u02c8-\u02cb\u02ee\u2032\u2035\ua78c\u055a\u05f3\u05f4\u0640]/gv

const HYPHEN = /[\p{Pd}\u2043\u2212]/gu

/** White space, commas, and the dots between parts of a name. */
const SEPARATOR = /[\s,\u060c\u3001\u00b7\u2022\u2027\u30fb]+/g

/** Letters that NFKD does not decompose, with those that people type instead. */
const LETTER_REPLACEMENTS: Record<string, string> = {
  ł: 'l',
  ø: 'o',
  ß: 'ss',
  ı: 'i',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  æ: 'ae',
  œ: 'oe',
  ə: 'a',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ɓ: 'b',
  ɗ: 'd',
  ƙ: 'k',
  ς: 'σ',
  // Arabic keyboards of several languages encode these differently.
  '\u06cc': '\u064a',
  '\u0649': '\u064a',
  '\u06a9': '\u0643',
  '\u06aa': '\u0643',
  '\u06be': '\u0647',
  '\u06c1': '\u0647',
  '\u06c3': '\u0647',
  '\u06d5': '\u0647',
  '\u0629': '\u0647',
  '\u0671': '\u0627',
}
const LETTER = new RegExp(`[${Object.keys(LETTER_REPLACEMENTS).join('')}]`, 'g')

const OTHER_DIGIT = /[\p{Nd}--[0-9]]/gv

/** Text in which nothing but its case changes, as nearly all stored text. */
const PLAIN = /^[\w@.+-]+(?: [\w@.+-]+)*$/

/** Text as search compares it. `İSTANBUL` and `ıstanbul` both fold to `istanbul`. */
export function fold(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase()
  const folded = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(REMOVED, '')
    .replace(HYPHEN, '-')
    .replace(SEPARATOR, ' ')
    .replace(LETTER, (letter) => LETTER_REPLACEMENTS[letter] ?? letter)
    .replace(OTHER_DIGIT, asciiDigit)
  // Composes syllables of Hangul and voiced Kana again: their parts are no letters.
  return folded.normalize('NFC')
}

/** Unicode has the ten digits of each script in a row, from zero. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  let zero = code
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--
  return String((code - zero) % 10)
}

/** The digits of an E.164 number. */
export const phoneDigits = (phone: string | null): string => phone?.replace(/\D/g, '') ?? ''

/** A parsed query: substrings that must all occur, or a sequence of phone digits. */
export type Needles =
  | { readonly kind: 'words'; readonly words: string[] }
  | { readonly kind: 'phone'; readonly digits: string }

/** With the hyphen of Japanese keyboards, which is a letter of names. */
const PHONE_QUERY = /^[\d\s+\-()./\u30fc]+$/

/** A link to a number, without the parameters behind it. */
const TEL_URI = /^ ?tel:([^;]*).*/

/** Parses a query; null if it is empty or only white space. */
export function parseSearchQuery(query: string): Needles | null {
  // Email addresses are stored with their domains in Unicode.
  const folded = fold(query.replace(/xn--[a-z0-9-]+/gi, (label) => domainToUnicode(label)))
  const words = folded.split(' ').filter((word) => word !== '')
  // A query that folds to nothing, such as a lone accent, matches no patient.
  if (words.length === 0) return query.trim() === '' ? null : { kind: 'words', words: [query.trim()] }
  const dialed = folded.replace(TEL_URI, '$1')
  if (PHONE_QUERY.test(dialed) && phoneDigits(dialed).length >= 3)
    return { kind: 'phone', digits: normalizeDialedDigits(dialed) }
  return { kind: 'words', words: [...new Set(words)] }
}

/** The digits of a dialed number without the international prefix `00`, the trunk prefix `0` or the `(0)` of `+44 (0)20`. */
function normalizeDialedDigits(query: string): string {
  const digits = query.replace(/^([\s(]*(?:\+|00)[\d\s.\-/)\u30fc]*)\(0\)/, '$1').replace(/\D/g, '')
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
  const rest = `\t${phoneDigits(phone)}\t${truncate(fold(email ?? ''), MAX_EMAIL_BYTES)}`
  return truncate(fold(name), MAX_LINE_BYTES - byteLength(rest)) + rest
}

const encoder = new TextEncoder()

const byteLength = (text: string): number => encoder.encode(text).length

/** The start of a text, in whole characters, that has at most `max` bytes of UTF-8. */
function truncate(text: string, max: number): string {
  // A UTF-16 code unit has at most three bytes.
  if (text.length * 3 <= max) return text
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(max)).read)
}

/**
 * Ends a stored line of the present folding. A change of the folding takes another mark, and finds the lines of before by the folding
 * of before (earlier-folding.ts) until `migrate` has rewritten them.
 */
export const FOLDED = '\u0002'

export function lineMatches(line: string, needles: Needles): boolean {
  const start = line.indexOf('\t') + 1
  if (needles.kind === 'phone') return line.slice(start, line.indexOf('\t', start)).includes(needles.digits)
  return needles.words.every((word) => line.includes(word) || isInTwoParts(word, line.slice(0, start)))
}

/** Words that can be a family name and a given name, since their scripts put no space between them: Han, Kana and Hangul. */
const WRITTEN_TOGETHER = /^[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]{2,}$/u

function isInTwoParts(word: string, name: string): boolean {
  if (!WRITTEN_TOGETHER.test(word)) return false
  const names = name.trim().split(' ')
  return names.some((a, i) => names.some((b, j) => i !== j && `${a}${b}`.includes(word)))
}

/** A text that all matching lines have, the longest known: it is probably the rarest. */
export function probeOf(needles: Needles): string {
  if (needles.kind === 'phone') return needles.digits
  // Of a word in two parts, a line has the last character in any case.
  const certain = needles.words.map((word) => (WRITTEN_TOGETHER.test(word) ? ([...word].at(-1) ?? '') : word))
  return certain.reduce((a, b) => (b.length > a.length ? b : a))
}
