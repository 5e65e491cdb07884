import type { Write } from './write-requests.ts'

/** DynamoDB's limit of a transaction is 4 MB. The rest is a margin for items that are larger than estimated. */
export const MAX_TRANSACTION_BYTES = 3_500_000

/** An item that is updated counts as a whole, and its size is not known. More than a tally or a doctor's day has. */
export const UPDATED_ITEM_BYTES = 4000

const sizes = new WeakMap<Write, number>()

/** The size of a put, deletion or check: as JSON, which takes more bytes than DynamoDB counts. */
export function writeBytes(write: Write): number {
  const known = sizes.get(write)
  if (known !== undefined) return known
  const bytes = Buffer.byteLength(JSON.stringify(write))
  sizes.set(write, bytes)
  return bytes
}
