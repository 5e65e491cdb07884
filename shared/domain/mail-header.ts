/** Names in the headers of mail, written so that nothing in them can end the header or add an address (RFC 5322, 2047). */

/** Line ends in any script, and what else has no place in a header. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu

const MAX_ENCODED_WORD_BYTES = 45

/** One line of a header, whatever was in the text: for names that were entered before today's rules. */
export const toSingleLine = (text: string): string =>
  text.toWellFormed().replace(CONTROL_CHARACTERS, ' ').trim()

/** A subject: what looks like an encoded word is encoded itself, so that readers see what was written. */
export function formatSubject(text: string): string {
  const line = toSingleLine(text)
  return line.includes('=?') ? encodeWords(line) : line
}

/** `"Praxis Nord" <mail@example.com>`; names outside plain ASCII become encoded words. */
export function formatMailbox(name: string, address: string): string {
  const line = toSingleLine(name)
  if (line === '') return address
  if (/^[\x20-\x7e]+$/.test(line) && !line.includes('=?'))
    return `"${line.replace(/["\\]/g, (special) => `\\${special}`)}" <${address}>`
  return `${encodeWords(line)} <${address}>`
}

/** Words of at most 75 characters, each of whole characters. */
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
