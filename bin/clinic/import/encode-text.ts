import type { Encoding } from './encoding.ts'

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
