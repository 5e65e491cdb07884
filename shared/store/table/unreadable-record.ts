import { type Key, partitionParts } from '../keys/key.ts'
import { recordNameOf } from '../keys/record-names.ts'

/** A stored record that is not in the form that its store writes. The message has no personal data. */
export class UnreadableRecord extends Error {
  constructor(item: Partial<Key>, id: string, cause: unknown) {
    const { clinic } = partitionParts(item.pk ?? '')
    const verify = clinic === null ? 'clinic verify' : `clinic verify --clinic ${clinic}`
    super(`The ${recordNameOf(item) ?? 'record'} ${id} cannot be read. "${verify}" shows what is wrong.`, {
      cause,
    })
    this.name = 'UnreadableRecord'
  }
}

/** What `decode` returns. @throws UnreadableRecord for any error */
export function readRecord<R>(item: Partial<Key>, id: string, decode: () => R): R {
  try {
    return decode()
  } catch (error) {
    throw error instanceof UnreadableRecord ? error : new UnreadableRecord(item, id, error)
  }
}
