import { createHash } from 'node:crypto'
import type { ClinicId } from '../../domain/clinic.ts'
import { storedResponseKey } from '../keys/idempotency.ts'
import { TTL } from '../keys/key.ts'
import type { Changeset } from './changeset.ts'
import type { Table } from './table.ts'

/** Answers are kept for a day. */
const RESPONSE_TTL_SECONDS = 24 * 60 * 60

/** A request that may come more than once: whose, where, under which key of the caller's, and with which body. */
export type IdempotentRequest = {
  readonly clinic: ClinicId
  readonly credential: string
  readonly route: string
  /** Undefined for a request without a key, which happens as often as it is sent. */
  readonly key: string | undefined
  readonly body: string
}

/** The response to the first request with an idempotency key. It is sent again byte for byte. */
export class StoredResponse {
  readonly status: number
  /** JSON as it was sent. */
  readonly body: string

  constructor(status: number, body: string) {
    this.status = status
    this.body = body
  }
}

/** The key was used with another body. */
export class IdempotencyKeyReused extends Error {}

/** The first request with the key is still under way. */
export class RequestInProgress extends Error {}

export type IdempotencyGuard = ReturnType<typeof idempotencyGuard>

/** How a request that changes something is answered, and its answer kept. */
export type ResponseToStore<T> = {
  readonly idempotency: IdempotencyGuard
  readonly status: number
  readonly response: (after: T) => unknown
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** Does a request once: its answer is kept in the transaction of its effect, so a crash leaves both or neither. */
export function idempotencyGuard(
  { table, now }: { table: Table; now: () => number },
  request: IdempotentRequest,
) {
  const { clinic, credential, route, key, body } = request
  const itemKey = key === undefined ? null : storedResponseKey(clinic, credential, route, sha256(key))
  let reserved: string | undefined

  /**
   * The answer that was given, if this is a repetition.
   * @throws KeyReused when the key came with another body before; StillRunning while its first request may be under way
   */
  async function find(): Promise<StoredResponse | null> {
    const item = itemKey && (await table.get(itemKey))
    // Deletion by time to live lags behind.
    if (!item || (item[TTL] as number) <= now() / 1000) return null
    if (item.hash !== sha256(body)) throw new IdempotencyKeyReused('the key was used with another body')
    if (((item.busy as number | undefined) ?? 0) > now())
      throw new RequestInProgress('the first is under way')
    return new StoredResponse(item.status as number, item.body as string)
  }

  /** Adds the answer to the changes that it answers for; `patient` is whom it tells of. */
  function store(changes: Changeset, status: number, response: unknown, patient: string): void {
    put(changes, status, JSON.stringify(response), patient)
  }

  /**
   * Adds an answer for what is only about to be attempted. It stands if nothing more is heard; until `busy`
   * (milliseconds since the epoch), repetitions are told that the first is under way.
   */
  function reserve(
    changes: Changeset,
    status: number,
    response: unknown,
    patient: string,
    busyUntil: number,
  ): void {
    reserved = JSON.stringify(response)
    put(changes, status, reserved, patient, busyUntil)
  }

  /** Puts the answer in place of the reserved one; null gives the key back, since nothing was done. */
  async function complete(changes: Changeset, status: number, response: unknown | null): Promise<void> {
    const item = itemKey && (await table.get(itemKey))
    // Gone, or emptied with its patient: then it stays so.
    if (!item || item.body !== reserved) return
    const { busy: _, ...stored } = item
    const condition = { attribute: 'body', equals: reserved }
    // An answer that has expired is none: the next request with the key may take its place.
    if (response === null) changes.put({ ...stored, [TTL]: 0 }, condition)
    else changes.put({ ...stored, status, body: JSON.stringify(response) }, condition)
  }

  function put(
    changes: Changeset,
    status: number,
    response: string,
    patient: string,
    busyUntil?: number,
  ): void {
    if (!itemKey) return
    const seconds = Math.floor(now() / 1000)
    const attributes = {
      status,
      body: response,
      hash: sha256(body),
      p: patient,
      [TTL]: seconds + RESPONSE_TTL_SECONDS,
      ...(busyUntil !== undefined && { busy: busyUntil }),
    }
    changes.put({ ...itemKey, ...attributes }, { expiryAttribute: TTL, expiredAt: seconds })
  }

  return { find, store, reserve, complete }
}
