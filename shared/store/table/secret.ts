import { randomBytes } from 'node:crypto'
import type { Key } from '../keys/key.ts'
import { ifConditionHolds } from './errors.ts'
import type { Table } from './table.ts'
import type { Item } from './write-requests.ts'

const SECRET_BYTES = 32

export const newClinicSecret = (): Uint8Array => randomBytes(SECRET_BYTES)

export const secretItem = (key: Key, secret: Uint8Array): Item => ({ ...key, secret })

/** The secret of an item; null if there is none, or something else. */
export async function findSecret(table: Table, key: Key): Promise<Uint8Array | null> {
  const secret = (await table.get(key))?.secret
  return secret instanceof Uint8Array ? secret : null
}

/** The secret of an item, which is created if there is none. It never changes afterwards. */
export async function requireSecret(table: Table, key: Key): Promise<Uint8Array> {
  const stored = await findSecret(table, key)
  if (stored) return stored
  const secret = newClinicSecret()
  const { Put } = table.putWrite(secretItem(key, secret))
  const condition = {
    ConditionExpression: 'NOT attribute_type(secret, :bytes)',
    ExpressionAttributeValues: { ':bytes': 'B' },
  }
  // Another process may have made it in the meantime.
  return (await ifConditionHolds(table.transact([{ Put: { ...Put, ...condition } }])))
    ? secret
    : requireSecret(table, key)
}
