/** The encodings of import files. */
import { open } from 'node:fs/promises'
import { InvalidArgumentError } from 'commander'

/** The name of an encoding that Node knows by a label such as `latin1`; null for another label. */
export function encodingName(label: string): string | null {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return null
  }
}

/** The value of `--encoding`. @throws InvalidArgumentError for an unknown name */
export function parseEncoding(label: string): string {
  const encoding = encodingName(label)
  if (encoding === null) throw new InvalidArgumentError(`It ${NO_ENCODING}.`)
  return encoding
}

export const NO_ENCODING = 'must be an encoding such as windows-1252, iso-8859-2, shift_jis or utf-16le'

/** The encoding that the byte order mark of a file names; null without one. */
export async function markedEncoding(file: string): Promise<string | null> {
  await using handle = await open(file)
  const { buffer } = await handle.read({ buffer: Buffer.alloc(3) })
  const start = buffer.toString('hex')
  if (start.startsWith('fffe')) return 'utf-16le'
  if (start.startsWith('feff')) return 'utf-16be'
  return start === 'efbbbf' ? 'utf-8' : null
}
