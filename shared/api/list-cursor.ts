import { createHash } from 'node:crypto'
import { invalidCursor } from './schemas.ts'

/** What a cursor is bound to: the same position means something else in another list, or with other filters. */
type CursorScope = {
  readonly list: string
  readonly clinic: string
  readonly filters: Readonly<Record<string, unknown>>
}

const DIGEST_BYTES = 9

/** The cursors of one list. They contain a position and a digest, which is no secret: it detects mistakes. */
export function listCursors({ list, clinic, filters }: CursorScope) {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined)
  const scope = JSON.stringify([list, clinic, given.sort(([a], [b]) => (a < b ? -1 : 1))])

  function encode(position: string): string {
    const digest = createHash('sha256').update(`${scope}\n${position}`).digest().subarray(0, DIGEST_BYTES)
    return Buffer.concat([digest, Buffer.from(position)]).toString('base64url')
  }

  /** The position of a cursor. @throws ApiError invalid_cursor for a cursor of another list or none */
  function decode(cursor: string): string {
    const position = Buffer.from(cursor, 'base64url').subarray(DIGEST_BYTES).toString()
    if (encode(position) !== cursor) throw invalidCursor()
    return position
  }

  return { encode, decode }
}
