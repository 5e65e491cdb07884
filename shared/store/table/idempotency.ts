import { createHash } from 'node:crypto'
import type { ClinicId } from '../../domain/clinic.ts'
import { StoredResponse } from '../../domain/stored-response.ts'
import { storedResponseKey } from '../keys/idempotency.ts'
import { TTL } from '../keys/key.ts'
import { number, text } from './attributes.ts'
import type { Changeset } from './changeset.ts'
import type { Table } from './table.ts'

/** Responses are stored for a day. */
export const RESPONSE_TTL_SECONDS = 24 * 60 * 60

/** A time to live in the past at `now`. DynamoDB never deletes an item whose time lies more than five years back. */
const expiredTtl = (now: number): number => Math.floor(now / 1000) - 60

/** A request that may arrive more than once. */
export type IdempotentRequest = {
  readonly clinic: ClinicId
  readonly credential: string
  readonly route: string
  /** The caller's idempotency key. Undefined for a request without one, which takes effect each time it is sent. */
  readonly key: string | undefined
  readonly body: string
}

/** The key was used with another body. */
export class IdempotencyKeyReused extends Error {}

/** The first request with the key is still in progress. */
export class RequestInProgress extends Error {}

export type IdempotencyGuard = ReturnType<typeof idempotencyGuard>

/** Thrown for a repetition of a request that was completed before: its response is sent again. */
export class RequestCompleted extends Error {
  readonly response: StoredResponse
  constructor(response: StoredResponse) {
    super('the request was completed before')
    this.response = response
  }
}

/** A write that a request asks for, as stores see it. Its response is made of an `Outcome`. */
export type RequestedWrite<Outcome> = {
  /** Whether external ids that the request sets need no confirmation before imports use them. */
  readonly confirmsExternalIds: boolean
  /** @throws RequestCompleted for a repetition, whose stored response `revise` may complete; see also {@link IdempotencyGuard} */
  readonly requireNew: (revise?: (stored: StoredResponse) => Promise<StoredResponse>) => Promise<void>
  /**
   * Requires the record to be in the state that the request names. Called in the attempt that changes it, with the version that the
   * change requires.
   */
  readonly requireMatch: (before: Outcome) => void
  /** Adds the response to the changes that it describes. The rest is as in {@link IdempotencyGuard}. */
  readonly store: (changes: Changeset, outcome: Outcome, patient: string, createdId?: string) => void
  readonly reserve: (changes: Changeset, outcome: Outcome, patient: string, busyUntil: number) => void
  readonly complete: (changes: Changeset, outcome: Outcome | null) => Promise<void>
}

/** A write of the operator: unconditional, and without a response. */
export const UNREQUESTED: RequestedWrite<unknown> = {
  confirmsExternalIds: false,
  requireNew: async () => {},
  requireMatch: () => {},
  store: () => {},
  reserve: () => {},
  complete: async () => {},
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** Runs a request once: its response is stored in the transaction of its effect, so a crash leaves both or neither. */
export function idempotencyGuard(
  { table, now }: { table: Table; now: () => number },
  request: IdempotentRequest,
) {
  const { clinic, credential, route, key, body } = request
  const itemKey = key === undefined ? null : storedResponseKey(clinic, credential, route, sha256(key))
  let reserved: string | undefined

  /**
   * The stored response, if the request is a repetition. It is read `committed` after the effect of a transaction has been seen:
   * otherwise it can be missing although it is of that transaction.
   * @throws IdempotencyKeyReused if the key was used with another body, or the erasure of the patient emptied the response;
   * RequestInProgress while the first request may still run
   */
  async function find(read?: 'committed'): Promise<StoredResponse | null> {
    const item = itemKey && (await (read ? table.getCommitted(itemKey) : table.get(itemKey)))
    // Deletion by time to live is late.
    if (!item || (item[TTL] as number) <= now() / 1000) return null
    if (item.hash !== sha256(body)) throw new IdempotencyKeyReused('the key was used with another body')
    if (((item.busy as number | undefined) ?? 0) > now())
      throw new RequestInProgress('the first request is in progress')
    const [status, response] = [number('status').decode(item.status), text('body').decode(item.body)]
    return new StoredResponse(status, response, item.id as string | undefined)
  }

  /**
   * Adds the response to the changes that it describes. It contains data of `patient`, whose erasure empties it. A response
   * whose body does not have the id of the created record is stored with it.
   */
  function store(
    changes: Changeset,
    status: number,
    response: unknown,
    patient: string,
    createdId?: string,
  ): void {
    put(changes, status, JSON.stringify(response), patient, createdId === undefined ? {} : { id: createdId })
  }

  /**
   * Adds a response for work that is only about to be attempted. It becomes final if the outcome never becomes known.
   * Until `busyUntil` (milliseconds since the epoch), repetitions fail with RequestInProgress.
   */
  function reserve(
    changes: Changeset,
    status: number,
    response: unknown,
    patient: string,
    busyUntil: number,
  ): void {
    reserved = JSON.stringify(response)
    put(changes, status, reserved, patient, { busy: busyUntil })
  }

  /** Replaces the reserved response. Null frees the key, because the request had no effect. */
  async function complete(changes: Changeset, status: number, response: unknown | null): Promise<void> {
    const item = itemKey && (await table.get(itemKey))
    // Expired, or emptied when its patient was erased: it must stay so.
    if (!item || item.body !== reserved) return
    const { busy: _, ...reservation } = item
    // A freed key keeps nothing of the response, which names the recipient of a message.
    const stored = response === null ? { ...reservation, body: '{}' } : reservation
    const condition = { attribute: 'body', equals: reserved }
    // An expired response counts as missing, so the next request with the key may replace it.
    if (response === null) changes.put({ ...stored, [TTL]: expiredTtl(now()) }, condition)
    else changes.put({ ...stored, status, body: JSON.stringify(response) }, condition)
  }

  function put(
    changes: Changeset,
    status: number,
    response: string,
    patient: string,
    more: { readonly id?: string; readonly busy?: number },
  ): void {
    if (!itemKey) return
    const seconds = Math.floor(now() / 1000)
    changes.put(
      {
        ...itemKey,
        status,
        body: response,
        hash: sha256(body),
        p: patient,
        [TTL]: seconds + RESPONSE_TTL_SECONDS,
        ...more,
      },
      { expiryAttribute: TTL, expiredAt: seconds },
    )
  }

  return { find, store, reserve, complete }
}
