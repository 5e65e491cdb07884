/** The stored format of waiting items: of deliveries without an attempt, and of those that wait for their endpoint. */
import * as z from 'zod'
import type { Delivery } from '../../domain/webhooks/delivery.ts'
import { type Key, TTL } from '../keys/key.ts'
import type { Item } from '../table/write-requests.ts'
import { expirySeconds } from './items.ts'

const StoredFirstAttempt = z.object({ i: z.string() })

/** The id of a delivery that has had no attempt. */
export const decodeFirstAttempt = (item: Item): string => StoredFirstAttempt.parse(item).i

export const encodeFirstAttempt = (key: Key, { id, createdAt }: Delivery): Item => ({
  ...key,
  i: id,
  [TTL]: expirySeconds(createdAt),
})

const StoredWaiting = z.object({ f: z.enum(['turn', 'success']) })

/** The reason for which a delivery waits. */
export const decodeWaiting = (item: Item): 'turn' | 'success' => StoredWaiting.parse(item).f

/** A delivery among those that wait for their endpoint. */
export const encodeWaiting = (key: Key, { createdAt, waiting }: Delivery): Item => ({
  ...key,
  f: waiting?.for,
  [TTL]: expirySeconds(createdAt),
})
