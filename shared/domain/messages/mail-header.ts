/** Encodes text for mail headers so that it cannot end the header or add an address (RFC 5322, RFC 2047). */

/** Control characters and all Unicode line and paragraph separators. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu

const MAX_ENCODED_WORD_BYTES = 45

/** The text as one header line. Names stored before today's validation may contain control characters. */
export const toSingleLine = (text: string): string =>
  text.toWellFormed().replace(CONTROL_CHARACTERS, ' ').trim()

/** Formats a subject. Text that looks like an encoded word is encoded, so that mail programs show it as written. */
export function formatSubject(text: string): string {
  const line = toSingleLine(text)
  return line.includes('=?') ? encodeWords(line) : line
}

/** Formats a mailbox such as `"Praxis Nord" <mail@example.com>`. Names outside ASCII become encoded words. */
export function formatMailbox(name: string, address: string): string {
  const line = toSingleLine(name)
  if (line === '') return address
  if (/^[\x20-\x7e]+$/.test(line) && !line.includes('=?'))
    return `"${line.replace(/["\\]/g, (special) => `\\${special}`)}" <${address}>`
  return `${encodeWords(line)} <${address}>`
}

/** Encoded words of at most 75 characters; no character is split between two words. */
function encodeWords(text: string): string {
  const words: string[] = []
  let word = ''
  for (const character of text) {
    if (Buffer.byteLength(word + character) > MAX_ENCODED_WORD_BYTES) {
      words.push(word)
      word = ''
    }
    word += character
  }
  return [...words, word].map((part) => `=?UTF-8?B?${Buffer.from(part).toString('base64')}?=`).join(' ')
}
