import { createHash } from 'node:crypto'
import type { ClinicId } from '../../domain/clinic.ts'
import { KeptAnswer } from '../../domain/stored-response.ts'
import { keptAnswerKey } from '../keys/idempotency.ts'
import { TTL } from '../keys/key.ts'
import type { Changeset } from './changeset.ts'
import type { Table } from './table.ts'

/** Answers are kept for a day. */
const KEPT_SECONDS = 24 * 60 * 60

/** A request that may come more than once: whose, where, under which key of the caller's, and with which body. */
export type Repeatable = {
  readonly clinic: ClinicId
  readonly credential: string
  readonly route: string
  /** Undefined for a request without a key, which happens as often as it is sent. */
  readonly key: string | undefined
  readonly body: string
}

/** The key was used with another body. */
export class KeyReused extends Error {}

/** The first request with the key is still under way. */
export class StillRunning extends Error {}

export type Once = ReturnType<typeof once>

/** How a request that changes something is answered, and its answer kept. */
export type Answered<T> = {
  readonly once: Once
  readonly status: number
  readonly answer: (after: T) => unknown
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** Does a request once: its answer is kept in the transaction of its effect, so a crash leaves both or neither. */
export function once({ table, now }: { table: Table; now: () => number }, request: Repeatable) {
  const { clinic, credential, route, key, body } = request
  const place = key === undefined ? null : keptAnswerKey(clinic, credential, route, hashOf(key))
  let reserved: string | undefined

  /**
   * The answer that was given, if this is a repetition.
   * @throws KeyReused when the key came with another body before; StillRunning while its first request may be under way
   */
  async function find(): Promise<KeptAnswer | null> {
    const item = place && (await table.get(place))
    // Deletion by time to live lags behind.
    if (!item || (item[TTL] as number) <= now() / 1000) return null
    if (item.hash !== hashOf(body)) throw new KeyReused('the key was used with another body')
    if (((item.busy as number | undefined) ?? 0) > now()) throw new StillRunning('the first is under way')
    return new KeptAnswer(item.status as number, item.body as string)
  }

  /** Adds the answer to the changes that it answers for; `patient` is whom it tells of. */
  function keep(changes: Changeset, status: number, answer: unknown, patient: string): void {
    put(changes, status, JSON.stringify(answer), patient)
  }

  /**
   * Adds an answer for what is only about to be attempted. It stands if nothing more is heard; until `busy`
   * (milliseconds since the epoch), repetitions are told that the first is under way.
   */
  function reserve(changes: Changeset, status: number, answer: unknown, patient: string, busy: number): void {
    reserved = JSON.stringify(answer)
    put(changes, status, reserved, patient, busy)
  }

  /** Puts the answer in place of the reserved one; null gives the key back, since nothing was done. */
  async function complete(changes: Changeset, status: number, answer: unknown | null): Promise<void> {
    const item = place && (await table.get(place))
    // Gone, or emptied with its patient: then it stays so.
    if (!item || item.body !== reserved) return
    const { busy: _, ...kept } = item
    const condition = { attribute: 'body', equals: reserved }
    // An answer that has expired is none: the next request with the key may take its place.
    if (answer === null) changes.put({ ...kept, [TTL]: 0 }, condition)
    else changes.put({ ...kept, status, body: JSON.stringify(answer) }, condition)
  }

  function put(changes: Changeset, status: number, answer: string, patient: string, busy?: number): void {
    if (!place) return
    const seconds = Math.floor(now() / 1000)
    const kept = {
      status,
      body: answer,
      hash: hashOf(body),
      p: patient,
      [TTL]: seconds + KEPT_SECONDS,
      ...(busy !== undefined && { busy }),
    }
    changes.put({ ...place, ...kept }, { unless: TTL, after: seconds })
  }

  return { find, keep, reserve, complete }
}
