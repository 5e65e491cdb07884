/** Names in the headers of mail, written so that nothing in them can end the header or add an address (RFC 5322, 2047). */

/** Line ends in any script, and what else has no place in a header. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu

const ENCODED_WORD_BYTES = 45

/** One line of a header, whatever was in the text: for names that were entered before today's rules. */
export const oneLine = (text: string): string => text.toWellFormed().replace(CONTROLS, ' ').trim()

/** A subject: what looks like an encoded word is encoded itself, so that readers see what was written. */
export function headerText(text: string): string {
  const shown = oneLine(text)
  return shown.includes('=?') ? encodedWords(shown) : shown
}

/** `"Praxis Nord" <mail@example.com>`; names outside plain ASCII become encoded words. */
export function mailbox(name: string, address: string): string {
  const shown = oneLine(name)
  if (shown === '') return address
  if (/^[\x20-\x7e]+$/.test(shown) && !shown.includes('=?'))
    return `"${shown.replace(/["\\]/g, (special) => `\\${special}`)}" <${address}>`
  return `${encodedWords(shown)} <${address}>`
}

/** Words of at most 75 characters, each of whole characters. */
function encodedWords(text: string): string {
  const words: string[] = []
  let word = ''
  for (const character of text) {
    if (Buffer.byteLength(word + character) > ENCODED_WORD_BYTES) {
      words.push(word)
      word = ''
    }
    word += character
  }
  return [...words, word].map((part) => `=?UTF-8?B?${Buffer.from(part).toString('base64')}?=`).join(' ')
}
